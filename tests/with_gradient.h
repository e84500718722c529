// What synthetic operators are made of: a value, and whatever gradient the operator claims for it.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <functional>
#include <string>
#include <utility>

#include "kernels/core/autograd.h"

namespace tigon::synthetic {

// From the upstream gradient, which the caller may hold alone, and the saved input.
using Gradient = std::function<at::Tensor(at::Tensor dy, const at::Tensor& x)>;

struct SyntheticBackward final : torch::autograd::Node {
  torch::autograd::SavedVariable x;
  Gradient gradient;

  std::string name() const override { return "SyntheticBackward"; }
  void release_variables() override { x.reset_data(); }
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const at::NoGradGuard no_grad;
    at::Tensor dy = std::move(gradients[0]);
    return {gradient(std::move(dy), x.unpack())};
  }
};

// `y`, made without autograd, as a function of x with this gradient.
inline at::Tensor with_gradient(const at::Tensor& x, at::Tensor y, Gradient gradient) {
  if (!torch::autograd::compute_requires_grad(x)) return y;
  auto node = make_node<SyntheticBackward>(x);
  node->x = {x, /*is_output=*/false};
  node->gradient = std::move(gradient);
  torch::autograd::set_history(y, node);
  return y;
}

inline at::Tensor doubled(const at::Tensor& x) { return x.detach().mul(2); }

inline at::Tensor doubled_gradient(const at::Tensor& dy, const at::Tensor& /*x*/) {
  return dy.mul(2);
}

}  // namespace tigon::synthetic
