#include "kernels/rms_norm/rms_norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "kernels/core/autograd.h"
#include "kernels/core/checks.h"
#include "kernels/core/operator_handle.h"
#include "kernels/core/rows.h"
#include "kernels/core/stream.h"
#include "kernels/rms_norm/rms_norm_kernels.h"

namespace tigon {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Mask = std::array<bool, 2>;  // dx, dweight

constexpr const char* kOp = "rms_norm";

RmsNormCasting parse_casting(std::string_view casting) {
  if (casting == "llama") return RmsNormCasting::kLlama;
  if (casting == "gemma") return RmsNormCasting::kGemma;
  if (casting == "none") return RmsNormCasting::kNone;
  TORCH_CHECK_VALUE(false, kOp, ": casting is \"", casting,
                    "\", expected \"llama\", \"gemma\" or \"none\"");
}

void check_forward(const Tensor& x, const OptionalTensor& weight, double eps) {
  check_activation(kOp, "x", x);
  if (weight) check_weight(kOp, "weight", *weight, "x", x);
  TORCH_CHECK_VALUE(eps >= 0 && std::isfinite(eps), kOp, ": eps is ", eps,
                    ", expected a finite number >= 0");
}

void check_backward(const Tensor& dy, const Tensor& x, const OptionalTensor& weight,
                    const Tensor& rstd) {
  check_activation(kOp, "x", x);
  check_same(kOp, "dy", dy, "x", x);
  if (weight) check_weight(kOp, "weight", *weight, "x", x);
  TORCH_CHECK(rstd.sym_sizes() == x.sym_sizes().slice(0, x.dim() - 1), kOp, ": rstd has shape ",
              rstd.sym_sizes(), ", expected ", x.sym_sizes().slice(0, x.dim() - 1),
              " (x's without the last dimension)");
  TORCH_CHECK(rstd.scalar_type() == at::kFloat, kOp, ": rstd has dtype ", rstd.scalar_type(),
              ", expected Float");
  TORCH_CHECK(rstd.device() == x.device(), kOp, ": rstd is on ", rstd.device(), ", expected ",
              x.device(), " (the device of x)");
}

// ---- kernels for CPU and CUDA ----

std::tuple<Tensor, Tensor> forward(const Tensor& x, const OptionalTensor& weight, double eps,
                                   double offset, std::string_view casting) {
  check_forward(x, weight, eps);
  const Rows xr = as_rows(x);
  const Tensor w = weight ? weight->contiguous() : Tensor();
  Tensor y = at::empty_like(x, at::MemoryFormat::Contiguous);
  Tensor rstd = at::empty(x.sizes().slice(0, x.dim() - 1), x.options().dtype(at::kFloat));
  RmsNormForwardArgs args{};
  args.x = xr.data();
  args.weight = weight ? w.const_data_ptr() : nullptr;
  args.y = y.mutable_data_ptr();
  args.rstd = rstd.mutable_data_ptr<float>();
  args.rows = xr.rows;
  args.hidden = xr.width;
  args.x_row_stride = xr.stride;
  args.x_type = kernel_type(x.scalar_type());
  args.weight_type = weight ? kernel_type(w.scalar_type()) : args.x_type;
  args.casting = parse_casting(casting);
  args.eps = static_cast<float>(eps);
  args.offset = static_cast<float>(offset);
  launch(x, rms_norm_forward_cpu, rms_norm_forward_cuda, args);
  return {std::move(y), std::move(rstd)};
}

// dx may be undefined (not wanted) or dy itself. Returns dweight, undefined where not wanted.
Tensor backward_into(const Tensor& dx, const Tensor& dy, const Tensor& x,
                     const OptionalTensor& weight, const Tensor& rstd, double offset,
                     std::string_view casting, bool wants_dweight) {
  const Rows dyr = as_rows(dy);
  const Rows xr = as_rows(x);
  const Tensor w = weight ? weight->contiguous() : Tensor();
  const Tensor r = rstd.contiguous();
  Tensor dweight;
  if (wants_dweight && weight) dweight = at::empty_like(w, at::MemoryFormat::Contiguous);
  RmsNormBackwardArgs args{};
  args.dy = dyr.data();
  args.x = xr.data();
  args.weight = weight ? w.const_data_ptr() : nullptr;
  args.rstd = r.const_data_ptr<float>();
  args.dx = dx.defined() ? dx.mutable_data_ptr() : nullptr;
  args.dweight = dweight.defined() ? dweight.mutable_data_ptr() : nullptr;
  args.rows = xr.rows;
  args.hidden = xr.width;
  args.dy_row_stride = dyr.stride;
  args.x_row_stride = xr.stride;
  args.x_type = kernel_type(x.scalar_type());
  args.weight_type = weight ? kernel_type(w.scalar_type()) : args.x_type;
  args.casting = parse_casting(casting);
  args.offset = static_cast<float>(offset);
  const int64_t floats =
      x.is_cpu() ? rms_norm_backward_workspace_cpu(args) : rms_norm_backward_workspace_cuda(args);
  Tensor workspace;
  if (floats > 0) {
    workspace = at::empty({floats}, x.options().dtype(at::kFloat));
    args.workspace = workspace.mutable_data_ptr<float>();
  }
  launch(x, rms_norm_backward_cpu, rms_norm_backward_cuda, args);
  return dweight;
}

std::tuple<Tensor, Tensor> backward(const Tensor& dy, const Tensor& x, const OptionalTensor& weight,
                                    const Tensor& rstd, double offset, std::string_view casting,
                                    Mask wanted) {
  check_backward(dy, x, weight, rstd);
  Tensor dx;
  if (wanted[0]) dx = at::empty_like(x, at::MemoryFormat::Contiguous);
  Tensor dweight = backward_into(dx, dy, x, weight, rstd, offset, casting, wanted[1]);
  return {std::move(dx), std::move(dweight)};
}

Tensor backward_(Tensor& dy, const Tensor& x, const OptionalTensor& weight, const Tensor& rstd,
                 double offset, std::string_view casting, bool wants_dweight) {
  check_backward(dy, x, weight, rstd);
  TORCH_CHECK(dy.is_contiguous(), kOp, ": dy has strides ", dy.strides(),
              ", expected a contiguous tensor (the gradient takes its place)");
  return backward_into(dy, dy, x, weight, rstd, offset, casting, wants_dweight);
}

// ---- shapes only: Meta and fake tensors ----

std::tuple<Tensor, Tensor> forward_meta(const Tensor& x, const OptionalTensor& weight, double eps,
                                        double /*offset*/, std::string_view casting) {
  check_forward(x, weight, eps);
  parse_casting(casting);
  return {at::empty_like(x, at::MemoryFormat::Contiguous),
          at::empty_symint(x.sym_sizes().slice(0, x.dim() - 1), x.options().dtype(at::kFloat))};
}

Tensor dweight_meta(const OptionalTensor& weight, bool wanted) {
  return weight && wanted ? at::empty_like(*weight, at::MemoryFormat::Contiguous) : Tensor();
}

std::tuple<Tensor, Tensor> backward_meta(const Tensor& dy, const Tensor& x,
                                         const OptionalTensor& weight, const Tensor& rstd,
                                         double /*offset*/, std::string_view casting, Mask wanted) {
  check_backward(dy, x, weight, rstd);
  parse_casting(casting);
  return {wanted[0] ? at::empty_like(x, at::MemoryFormat::Contiguous) : Tensor(),
          dweight_meta(weight, wanted[1])};
}

Tensor backward_meta_(Tensor& dy, const Tensor& x, const OptionalTensor& weight, const Tensor& rstd,
                      double /*offset*/, std::string_view casting, bool wants_dweight) {
  check_backward(dy, x, weight, rstd);
  parse_casting(casting);
  return dweight_meta(weight, wants_dweight);
}

// ---- autograd ----

const auto& forward_op() {
  static const auto op = operator_handle<decltype(forward)>("tigon::rms_norm_forward");
  return op;
}

const auto& backward_op() {
  static const auto op = operator_handle<decltype(backward)>("tigon::rms_norm_backward");
  return op;
}

const auto& backward_op_() {
  static const auto op = operator_handle<decltype(backward_)>("tigon::rms_norm_backward_");
  return op;
}

struct RmsNormBackward final : torch::autograd::Node {
  torch::autograd::SavedVariable x, weight, rstd;
  double offset = 0;
  std::string casting;

  std::string name() const override { return "RmsNormBackward"; }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    x.reset_data();
    weight.reset_data();
    rstd.reset_data();
  }

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    Tensor dy = std::move(gradients[0]);
    if (!dy.defined()) return {Tensor(), Tensor()};
    const Mask wanted{task_should_compute_output(0), task_should_compute_output(1)};
    const std::lock_guard<std::mutex> lock(mutex_);
    const Tensor saved_x = x.unpack();
    const Tensor saved_weight = weight.unpack();
    const Tensor saved_rstd = rstd.unpack();
    const OptionalTensor w = saved_weight.defined() ? OptionalTensor(saved_weight) : std::nullopt;
    if (at::GradMode::is_enabled()) {  // create_graph: the fallback makes a second derivative an
                                       // error
      auto [dx, dweight] = backward_op().call(dy, saved_x, w, saved_rstd, offset, casting, wanted);
      return {dx, dweight};
    }
    const at::AutoDispatchBelowADInplaceOrView below;
    if (wanted[0] && is_exclusive(dy)) {
      Tensor dweight = backward_op_().call(dy, saved_x, w, saved_rstd, offset, casting, wanted[1]);
      return {std::move(dy), std::move(dweight)};
    }
    auto [dx, dweight] = backward_op().call(dy, saved_x, w, saved_rstd, offset, casting, wanted);
    return {std::move(dx), std::move(dweight)};
  }
};

Tensor rms_norm_autograd(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                         std::string_view casting) {
  check_no_tangent(kOp, x);
  if (weight) check_no_tangent(kOp, *weight);
  std::shared_ptr<RmsNormBackward> node;
  if (torch::autograd::compute_requires_grad(x, weight)) {
    node = make_node<RmsNormBackward>(x, weight);
  }
  auto [y, rstd] = [&] {
    const at::AutoDispatchBelowADInplaceOrView below;
    return forward_op().call(x, weight, eps, offset, casting);
  }();
  if (node) {
    node->x = {x, /*is_output=*/false};
    node->weight = {weight, /*is_output=*/false};
    node->rstd = {rstd, /*is_output=*/false};
    node->offset = offset;
    node->casting = casting;
    torch::autograd::set_history(y, node);
  }
  return y;
}

// Without autograd (inference): the forward alone.
Tensor rms_norm_forward_only(const Tensor& x, const OptionalTensor& weight, double eps,
                             double offset, std::string_view casting) {
  return std::get<0>(forward_op().call(x, weight, eps, offset, casting));
}

// x keeps its dtype: sums are in fp32 anyway. A 16-bit weight beside fp32 activations is widened.
Tensor rms_norm_autocast(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                         std::string_view casting) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  OptionalTensor w = weight;
  if (w && w->scalar_type() != x.scalar_type() && w->scalar_type() != at::kFloat) {
    w = w->to(x.scalar_type());
  }
  return rms_norm(x, w, eps, offset, casting);
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps,
                    double offset, std::string_view casting) {
  static const auto op = operator_handle<decltype(rms_norm)>("tigon::rms_norm");
  return op.call(x, weight, eps, offset, casting);
}

TORCH_LIBRARY_FRAGMENT(tigon, m) {
  m.def(
      "rms_norm(Tensor x, Tensor? weight, float eps=1e-6, float offset=0.0, str casting=\"llama\")"
      " -> Tensor");
  m.def(
      "rms_norm_forward(Tensor x, Tensor? weight, float eps, float offset, str casting)"
      " -> (Tensor y, Tensor rstd)");
  m.def(
      "rms_norm_backward(Tensor dy, Tensor x, Tensor? weight, Tensor rstd, float offset, str "
      "casting,"
      " bool[2] output_mask) -> (Tensor dx, Tensor dweight)");
  m.def(
      "rms_norm_backward_(Tensor(a!) dy, Tensor x, Tensor? weight, Tensor rstd, float offset,"
      " str casting, bool wants_dweight) -> Tensor dweight");
  m.impl("rms_norm", c10::DispatchKey::Autograd, rms_norm_autograd);
  m.impl("rms_norm", c10::DispatchKey::CompositeExplicitAutograd, rms_norm_forward_only);
  m.impl("rms_norm", c10::DispatchKey::AutocastCPU, rms_norm_autocast);
  m.impl("rms_norm", c10::DispatchKey::AutocastCUDA, rms_norm_autocast);
  for (const auto key : {c10::DispatchKey::CPU, c10::DispatchKey::CUDA}) {
    m.impl("rms_norm_forward", key, forward);
    m.impl("rms_norm_backward", key, backward);
    m.impl("rms_norm_backward_", key, backward_);
  }
  m.impl("rms_norm_forward", c10::DispatchKey::Meta, forward_meta);
  m.impl("rms_norm_backward", c10::DispatchKey::Meta, backward_meta);
  m.impl("rms_norm_backward_", c10::DispatchKey::Meta, backward_meta_);
  for (const char* name : {"rms_norm_forward", "rms_norm_backward", "rms_norm_backward_"}) {
    m.impl(name, c10::DispatchKey::Autograd, torch::autograd::autogradNotImplementedFallback());
  }
}

}  // namespace tigon
