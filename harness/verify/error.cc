#include "harness/verify/error.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tigon::harness {
namespace {

struct Factors {
  double rms, max;
};

constexpr Factors limit_factors(Role role) {
  return role == Role::kOutput ? Factors{1.25, 2} : Factors{1.5, 3};
}
constexpr Factors floor_factors(DType dtype) {
  return dtype == DType::kFloat32 ? Factors{4, 8} : Factors{1, 2};
}
constexpr double ceiling_factor(DType dtype) { return dtype == DType::kFloat32 ? 256 : 16; }

double number(const at::Tensor& scalar) { return scalar.item<double>(); }

}  // namespace

DType dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return DType::kFloat32;
    case at::kBFloat16:
      return DType::kBFloat16;
    case at::kHalf:
      return DType::kFloat16;
    default:
      throw std::invalid_argument(fmt::format("dtype is {}, expected Float, BFloat16 or Half",
                                              toString(tensor.scalar_type())));
  }
}

TensorError tensor_error(const at::Tensor& got, const at::Tensor& truth, const at::Tensor& terms) {
  if (got.sizes() != truth.sizes()) {
    throw std::invalid_argument(fmt::format("shape is {}, expected {}", fmt::streamed(got.sizes()),
                                            fmt::streamed(truth.sizes())));
  }
  TensorError error;
  error.elements = got.numel();
  if (error.elements == 0) return error;

  const at::Tensor t = truth.to(got.device());
  const at::Tensor want = t.to(got.scalar_type()).to(at::kDouble);  // what could be represented
  const at::Tensor g = got.detach().to(at::kDouble);
  const at::Tensor got_finite = at::isfinite(g);
  const at::Tensor want_finite = at::isfinite(want);
  error.nonfinite_got = error.elements - got_finite.sum().item<int64_t>();
  error.nonfinite_want = error.elements - want_finite.sum().item<int64_t>();
  const at::Tensor both_finite = got_finite.logical_and(want_finite);
  const at::Tensor both_nan = at::isnan(g).logical_and(at::isnan(want));
  const at::Tensor same = both_finite.logical_or(both_nan).logical_or(g.eq(want));
  error.nonfinite_misplaced = error.elements - same.sum().item<int64_t>();

  const at::Tensor counted = at::where(both_finite, t, at::zeros_like(t));
  const at::Tensor row_rms =
      t.dim() == 0 ? counted.abs() : counted.square().mean(-1, /*keepdim=*/true).sqrt();
  at::Tensor scale = at::maximum(counted.abs(), row_rms).clamp_min_(smallest_normal(dtype_of(got)));
  if (terms.defined()) scale = at::maximum(scale, terms.to(got.device()));
  const at::Tensor e = at::where(both_finite, g.sub(t).abs_().div_(scale), at::zeros_like(t));
  error.max = number(e.max());
  error.rms = std::sqrt(number(e.square().mean()));
  return error;
}

Verdict judge(const TensorError& error, const std::optional<TensorError>& eager, DType dtype,
              DType intermediates, Role role) {
  const DType coarser = unit_roundoff(intermediates) > unit_roundoff(dtype) ? intermediates : dtype;
  const double u = unit_roundoff(coarser);
  const Factors limit = limit_factors(role);
  const Factors floor = floor_factors(coarser);
  const double ceiling = ceiling_factor(coarser) * u;
  Verdict verdict;
  if (eager) {
    verdict.limit_rms = limit.rms * std::max(eager->rms, floor.rms * u);
    verdict.limit_max = std::min(limit.max * std::max(eager->max, floor.max * u), ceiling);
  } else {
    verdict.limit_rms = limit.rms * floor.rms * u;
    verdict.limit_max = ceiling;
  }
  verdict.used = std::max(error.rms / verdict.limit_rms, error.max / verdict.limit_max);
  if (error.nonfinite_misplaced > 0) {
    verdict.reason =
        fmt::format("{} of {} elements are NaN or infinite where the truth is not the same",
                    error.nonfinite_misplaced, error.elements);
  } else if (!(error.rms <= verdict.limit_rms)) {
    verdict.reason =
        fmt::format("RMS error {:.3g} is over its limit {:.3g}", error.rms, verdict.limit_rms);
  } else if (!(error.max <= verdict.limit_max)) {
    verdict.reason =
        fmt::format("largest error {:.3g} is over its limit {:.3g}", error.max, verdict.limit_max);
  }
  verdict.right = verdict.reason.empty();
  return verdict;
}

}  // namespace tigon::harness
