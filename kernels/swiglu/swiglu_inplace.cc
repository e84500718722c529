// swiglu_: the form whose gradients take the places of its inputs.
#include <ATen/core/grad_mode.h>
#include <torch/library.h>

#include <utility>

#include "kernels/core/autograd.h"
#include "kernels/core/checks.h"
#include "kernels/core/operator_handle.h"
#include "kernels/core/rows.h"
#include "kernels/swiglu/swiglu.h"
#include "kernels/swiglu/swiglu_backward.h"

namespace tigon {
namespace {

using at::Tensor;

constexpr const char* kOp = "swiglu_";

// The gradient is written through the input's own rows.
void check_writable(const char* name, const Tensor& tensor) {
  check_inplace(kOp, name, tensor);
  const Rows rows = as_rows(tensor);
  TORCH_CHECK(
      rows.tensor.is_same(tensor) && (rows.rows <= 1 || rows.stride >= rows.width), kOp, ": ", name,
      " has strides ", tensor.strides(),
      ", expected rows that are adjacent in themselves and do not overlap (the gradient takes"
      " their place)");
}

Tensor forward(const Tensor& a, const Tensor& b) {
  static const auto op = operator_handle<decltype(swiglu)>("tigon::swiglu_forward");
  return op.call(a, b);
}

struct SwigluInplaceBackward final : torch::autograd::Node {
  torch::autograd::SavedVariable a, b;
  bool consumed = false;  // guarded by mutex_

  std::string name() const override { return "SwigluInplaceBackward"; }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    a.reset_data();
    b.reset_data();
  }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const Tensor dy = std::move(gradients[0]);
    if (!dy.defined()) return {Tensor(), Tensor()};
    TORCH_CHECK(!at::GradMode::is_enabled(), kOp,
                ": a second derivative is not supported (create_graph=True)");
    const std::lock_guard<std::mutex> lock(mutex_);
    TORCH_CHECK(!consumed, kOp,
                ": backward was called before; its gradients have taken the places of a and b");
    Tensor da = a.unpack().detach();
    Tensor db = b.unpack().detach();
    check_same(kOp, "dy", dy, "a", da);
    consumed = true;
    swiglu_backward_into(da, db, dy, da, db);
    // Whoever saved a or b after the forward is told that they are gone.
    da.unsafeGetTensorImpl()->bump_version();
    db.unsafeGetTensorImpl()->bump_version();
    return {std::move(da), std::move(db)};
  }
};

Tensor swiglu_inplace(Tensor& a, Tensor& b) {
  check_activation(kOp, "a", a);
  check_same(kOp, "b", b, "a", a);
  check_no_tangent(kOp, a);
  check_no_tangent(kOp, b);
  if (!torch::autograd::compute_requires_grad(a, b)) return forward(a, b);
  check_writable("a", a);
  check_writable("b", b);
  TORCH_CHECK(!overlap(as_rows(a), as_rows(b)), kOp,
              ": a and b share memory, expected two tensors (each gets a gradient)");
  const auto node = make_node<SwigluInplaceBackward>(a, b);
  // Nodes that saved a or b before find them changed: they will be, before those nodes run.
  a.unsafeGetTensorImpl()->bump_version();
  b.unsafeGetTensorImpl()->bump_version();
  const Tensor y = [&] {
    const at::AutoDispatchBelowADInplaceOrView below;
    return forward(a, b);
  }();
  node->a = {a, /*is_output=*/false};
  node->b = {b, /*is_output=*/false};
  torch::autograd::set_history(y, node);
  return y;
}

Tensor swiglu_inplace_forward_only(Tensor& a, Tensor& b) { return forward(a, b); }

}  // namespace

at::Tensor swiglu_(at::Tensor& a, at::Tensor& b) {
  static const auto op = operator_handle<decltype(swiglu_)>("tigon::swiglu_");
  return op.call(a, b);
}

TORCH_LIBRARY_FRAGMENT(tigon, m) {
  m.def("swiglu_(Tensor(a!) a, Tensor(b!) b) -> Tensor");
  m.impl("swiglu_", c10::DispatchKey::Autograd, swiglu_inplace);
  m.impl("swiglu_", c10::DispatchKey::CompositeExplicitAutograd, swiglu_inplace_forward_only);
}

}  // namespace tigon
