#include "kernels/swiglu/swiglu.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <array>
#include <tuple>
#include <utility>

#include "kernels/core/autograd.h"
#include "kernels/core/checks.h"
#include "kernels/core/operator_handle.h"
#include "kernels/core/rows.h"
#include "kernels/core/stream.h"
#include "kernels/swiglu/swiglu_backward.h"
#include "kernels/swiglu/swiglu_kernels.h"

namespace tigon {
namespace {

using at::Tensor;
using Mask = std::array<bool, 2>;  // da, db

constexpr const char* kOp = "swiglu";

void check_forward(const Tensor& a, const Tensor& b) {
  check_activation(kOp, "a", a);
  check_same(kOp, "b", b, "a", a);
}

void check_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  check_forward(a, b);
  check_same(kOp, "dy", dy, "a", a);
}

Tensor contiguous_like(const Tensor& tensor) {
  return at::empty_like(tensor, at::MemoryFormat::Contiguous);
}

// ---- kernels for CPU and CUDA ----

Tensor forward(const Tensor& a, const Tensor& b) {
  check_forward(a, b);
  const Rows ar = as_rows(a);
  const Rows br = as_rows(b);
  Tensor y = contiguous_like(a);
  SwigluForwardArgs args{};
  args.a = ar.data();
  args.b = br.data();
  args.y = y.mutable_data_ptr();
  args.rows = ar.rows;
  args.cols = ar.width;
  args.a_row_stride = ar.stride;
  args.b_row_stride = br.stride;
  args.y_row_stride = ar.width;
  args.type = kernel_type(a.scalar_type());
  launch(a, swiglu_forward_cpu, swiglu_forward_cuda, args);
  return y;
}

}  // namespace

void swiglu_backward_into(const Tensor& da, const Tensor& db, const Tensor& dy, const Tensor& a,
                          const Tensor& b) {
  const Rows dyr = as_rows(dy);
  const Rows ar = as_rows(a);
  const Rows br = as_rows(b);
  SwigluBackwardArgs args{};
  args.dy = dyr.data();
  args.a = ar.data();
  args.b = br.data();
  args.rows = ar.rows;
  args.cols = ar.width;
  args.dy_row_stride = dyr.stride;
  args.a_row_stride = ar.stride;
  args.b_row_stride = br.stride;
  args.da_row_stride = args.db_row_stride = ar.width;
  if (da.defined()) {
    args.da = da.mutable_data_ptr();
    args.da_row_stride = as_rows(da).stride;
  }
  if (db.defined()) {
    args.db = db.mutable_data_ptr();
    args.db_row_stride = as_rows(db).stride;
  }
  args.type = kernel_type(a.scalar_type());
  launch(a, swiglu_backward_cpu, swiglu_backward_cuda, args);
}

namespace {

std::tuple<Tensor, Tensor> allocate_gradients(const Tensor& a, const Tensor& b, Mask wanted) {
  return {wanted[0] ? contiguous_like(a) : Tensor(), wanted[1] ? contiguous_like(b) : Tensor()};
}

std::tuple<Tensor, Tensor> backward(const Tensor& dy, const Tensor& a, const Tensor& b,
                                    Mask wanted) {
  check_backward(dy, a, b);
  auto gradients = allocate_gradients(a, b, wanted);
  swiglu_backward_into(std::get<0>(gradients), std::get<1>(gradients), dy, a, b);
  return gradients;
}

// da in dy's storage; returns db.
Tensor backward_(Tensor& dy, const Tensor& a, const Tensor& b, bool wants_db) {
  check_backward(dy, a, b);
  TORCH_CHECK(dy.is_contiguous(), kOp, ": dy has strides ", dy.strides(),
              ", expected a contiguous tensor (the gradient takes its place)");
  Tensor db = wants_db ? contiguous_like(b) : Tensor();
  swiglu_backward_into(dy, db, dy, a, b);
  return db;
}

// ---- shapes only: Meta and fake tensors ----

Tensor forward_meta(const Tensor& a, const Tensor& b) {
  check_forward(a, b);
  return contiguous_like(a);
}

std::tuple<Tensor, Tensor> backward_meta(const Tensor& dy, const Tensor& a, const Tensor& b,
                                         Mask wanted) {
  check_backward(dy, a, b);
  return allocate_gradients(a, b, wanted);
}

Tensor backward_meta_(Tensor& dy, const Tensor& a, const Tensor& b, bool wants_db) {
  check_backward(dy, a, b);
  return wants_db ? contiguous_like(b) : Tensor();
}

// ---- autograd ----

const auto& forward_op() {
  static const auto op = operator_handle<decltype(forward)>("tigon::swiglu_forward");
  return op;
}

const auto& backward_op() {
  static const auto op = operator_handle<decltype(backward)>("tigon::swiglu_backward");
  return op;
}

const auto& backward_op_() {
  static const auto op = operator_handle<decltype(backward_)>("tigon::swiglu_backward_");
  return op;
}

struct SwigluBackward final : torch::autograd::Node {
  torch::autograd::SavedVariable a, b;

  std::string name() const override { return "SwigluBackward"; }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    a.reset_data();
    b.reset_data();
  }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    Tensor dy = std::move(gradients[0]);
    if (!dy.defined()) return {Tensor(), Tensor()};
    const Mask wanted{task_should_compute_output(0), task_should_compute_output(1)};
    const std::lock_guard<std::mutex> lock(mutex_);
    const Tensor saved_a = a.unpack();
    const Tensor saved_b = b.unpack();
    if (at::GradMode::is_enabled()) {  // create_graph: the fallback makes a second derivative an
                                       // error
      auto [da, db] = backward_op().call(dy, saved_a, saved_b, wanted);
      return {da, db};
    }
    const at::AutoDispatchBelowADInplaceOrView below;
    if (wanted[0] && is_exclusive(dy)) {
      Tensor db = backward_op_().call(dy, saved_a, saved_b, wanted[1]);
      return {std::move(dy), std::move(db)};
    }
    auto [da, db] = backward_op().call(dy, saved_a, saved_b, wanted);
    return {std::move(da), std::move(db)};
  }
};

Tensor swiglu_autograd(const Tensor& a, const Tensor& b) {
  check_no_tangent(kOp, a);
  check_no_tangent(kOp, b);
  std::shared_ptr<SwigluBackward> node;
  if (torch::autograd::compute_requires_grad(a, b)) node = make_node<SwigluBackward>(a, b);
  Tensor y = [&] {
    const at::AutoDispatchBelowADInplaceOrView below;
    return forward_op().call(a, b);
  }();
  if (node) {
    node->a = {a, /*is_output=*/false};
    node->b = {b, /*is_output=*/false};
    torch::autograd::set_history(y, node);
  }
  return y;
}

// Without autograd (inference): the forward alone.
Tensor swiglu_forward_only(const Tensor& a, const Tensor& b) { return forward_op().call(a, b); }

Tensor swiglu_autocast(const Tensor& a, const Tensor& b) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const auto type = c10::promoteTypes(a.scalar_type(), b.scalar_type());
  return swiglu(a.to(type), b.to(type));
}

}  // namespace

at::Tensor swiglu(const at::Tensor& a, const at::Tensor& b) {
  static const auto op = operator_handle<decltype(swiglu)>("tigon::swiglu");
  return op.call(a, b);
}

TORCH_LIBRARY_FRAGMENT(tigon, m) {
  m.def("swiglu(Tensor a, Tensor b) -> Tensor");
  m.def("swiglu_forward(Tensor a, Tensor b) -> Tensor");
  m.def(
      "swiglu_backward(Tensor dy, Tensor a, Tensor b, bool[2] output_mask)"
      " -> (Tensor da, Tensor db)");
  m.def("swiglu_backward_(Tensor(a!) dy, Tensor a, Tensor b, bool wants_db) -> Tensor db");
  m.impl("swiglu", c10::DispatchKey::Autograd, swiglu_autograd);
  m.impl("swiglu", c10::DispatchKey::CompositeExplicitAutograd, swiglu_forward_only);
  m.impl("swiglu", c10::DispatchKey::AutocastCPU, swiglu_autocast);
  m.impl("swiglu", c10::DispatchKey::AutocastCUDA, swiglu_autocast);
  for (const auto key : {c10::DispatchKey::CPU, c10::DispatchKey::CUDA}) {
    m.impl("swiglu_forward", key, forward);
    m.impl("swiglu_backward", key, backward);
    m.impl("swiglu_backward_", key, backward_);
  }
  m.impl("swiglu_forward", c10::DispatchKey::Meta, forward_meta);
  m.impl("swiglu_backward", c10::DispatchKey::Meta, backward_meta);
  m.impl("swiglu_backward_", c10::DispatchKey::Meta, backward_meta_);
  for (const char* name : {"swiglu_forward", "swiglu_backward", "swiglu_backward_"}) {
    m.impl(name, c10::DispatchKey::Autograd, torch::autograd::autogradNotImplementedFallback());
  }
}

}  // namespace tigon
