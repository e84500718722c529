// Broken twins of swiglu.
#include <ATen/ops/sigmoid.h>
#include <torch/library.h>

#include <string>

#include "kernels/core/mutation.h"
#include "kernels/core/operator_handle.h"

namespace tigon {
namespace {

using at::Tensor;
using Signature = Tensor(const Tensor&, const Tensor&);

Tensor swiglu(const Tensor& a, const Tensor& b) {
  static const auto op = operator_handle<Signature>("tigon::swiglu");
  return op.call(a, b);
}

Tensor tail_skipped(const Tensor& a, const Tensor& b) {
  return mutation::without_tail(swiglu(a, b), 8);
}

Tensor last_row_skipped(const Tensor& a, const Tensor& b) {
  return mutation::without_last_row(swiglu(a, b));
}

Tensor stride_ignored(const Tensor& a, const Tensor& b) {
  return swiglu(mutation::ignoring_strides(a), mutation::ignoring_strides(b));
}

Tensor gate_and_up_swapped(const Tensor& a, const Tensor& b) { return swiglu(b, a); }

// The sigmoid in 16 bits.
Tensor bf16_sigmoid(const Tensor& a, const Tensor& b) {
  const Tensor gate = a.to(at::kFloat).sigmoid().to(at::kBFloat16).to(at::kFloat);
  return gate.mul(a).mul(b).to(a.scalar_type());
}

// exp(a) / (1 + exp(a)) instead of 1 / (1 + exp(-a)): inf / inf from a = 89 on.
Tensor exp_overflow(const Tensor& a, const Tensor& b) {
  const Tensor e = a.to(at::kFloat).exp();
  return e.div(e.add(1)).mul(a).mul(b).to(a.scalar_type());
}

// da = dy b s: the derivative of the sigmoid is missing.
Tensor sigmoid_constant_in_backward(const Tensor& a, const Tensor& b) {
  return a.to(at::kFloat).sigmoid().detach().mul(a).mul(b).to(a.scalar_type());
}

Tensor db_in_bf16(const Tensor& a, const Tensor& b) {
  return swiglu(a, mutation::with_bf16_gradient(b));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(tigon_mutants, m) {
  const auto twin = [&m](const char* fault, Signature* broken) {
    const std::string schema = std::string("swiglu.") + fault + "(Tensor a, Tensor b) -> Tensor";
    m.def(schema.c_str(), broken);
  };
  twin("tail_skipped", tail_skipped);
  twin("last_row_skipped", last_row_skipped);
  twin("stride_ignored", stride_ignored);
  twin("gate_and_up_swapped", gate_and_up_swapped);
  twin("bf16_sigmoid", bf16_sigmoid);
  twin("exp_overflow", exp_overflow);
  twin("sigmoid_constant_in_backward", sigmoid_constant_in_backward);
  twin("db_in_bf16", db_in_bf16);
}

}  // namespace tigon
