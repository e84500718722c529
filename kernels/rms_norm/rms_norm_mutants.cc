// Broken twins of rms_norm.
#include <ATen/ops/cat.h>
#include <ATen/ops/rsqrt.h>
#include <torch/library.h>

#include <string>

#include "kernels/core/mutation.h"
#include "kernels/core/operator_handle.h"

namespace tigon {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Signature = Tensor(const Tensor&, const OptionalTensor&, double, double, std::string_view);

Tensor rms_norm(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                std::string_view casting) {
  static const auto op = operator_handle<Signature>("tigon::rms_norm");
  return op.call(x, weight, eps, offset, casting);
}

// y from a given 1 / rms, in fp32 and rounded once.
Tensor scaled(const Tensor& x, const Tensor& rstd, const OptionalTensor& weight, double offset) {
  Tensor y = x.to(at::kFloat).mul(rstd);
  if (weight) y = y.mul(weight->to(at::kFloat).add(offset));
  return y.to(x.scalar_type());
}

Tensor rstd_of(const Tensor& x, double eps, double divisor) {
  return x.to(at::kFloat).square().sum(-1, /*keepdim=*/true).div(divisor).add(eps).rsqrt();
}

Tensor no_eps(const Tensor& x, const OptionalTensor& weight, double, double offset,
              std::string_view casting) {
  return rms_norm(x, weight, 0, offset, casting);
}

Tensor no_offset(const Tensor& x, const OptionalTensor& weight, double eps, double,
                 std::string_view casting) {
  return rms_norm(x, weight, eps, 0, casting);
}

Tensor tail_skipped(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                    std::string_view casting) {
  return mutation::without_tail(rms_norm(x, weight, eps, offset, casting), 8);
}

Tensor last_row_skipped(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                        std::string_view casting) {
  return mutation::without_last_row(rms_norm(x, weight, eps, offset, casting));
}

Tensor stride_ignored(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                      std::string_view casting) {
  return rms_norm(mutation::ignoring_strides(x), weight, eps, offset, casting);
}

// The mean is taken over the width of the padded row.
Tensor padded_divisor(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                      std::string_view) {
  const auto padded = static_cast<double>((x.size(-1) + 7) / 8 * 8);
  return scaled(x, rstd_of(x, eps, padded), weight, offset);
}

Tensor bf16_sum(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                std::string_view) {
  const auto width = static_cast<double>(x.size(-1));
  const Tensor sum = x.to(at::kFloat).square().to(at::kBFloat16).sum(-1, /*keepdim=*/true);
  return scaled(x, sum.to(at::kFloat).div(width).add(eps).rsqrt(), weight, offset);
}

// The backward takes 1 / rms for a constant: the projection on x is missing from dx.
Tensor projection_dropped(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                          std::string_view) {
  const auto width = static_cast<double>(x.size(-1));
  return scaled(x, rstd_of(x, eps, width).detach(), weight, offset);
}

// The last row adds nothing to dweight: a partial block that is not summed.
Tensor dweight_row_lost(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                        std::string_view casting) {
  if (!weight || x.dim() < 2 || x.size(0) == 0) return rms_norm(x, weight, eps, offset, casting);
  const int64_t rows = x.size(0) - 1;
  return at::cat({rms_norm(x.narrow(0, 0, rows), weight, eps, offset, casting),
                  rms_norm(x.narrow(0, rows, 1), weight->detach(), eps, offset, casting)},
                 0);
}

Tensor dweight_in_bf16(const Tensor& x, const OptionalTensor& weight, double eps, double offset,
                       std::string_view casting) {
  const OptionalTensor rounded =
      weight ? OptionalTensor(mutation::with_bf16_gradient(*weight)) : std::nullopt;
  return rms_norm(x, rounded, eps, offset, casting);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(tigon_mutants, m) {
  const auto twin = [&m](const char* fault, Signature* broken) {
    const std::string schema =
        std::string("rms_norm.") + fault +
        "(Tensor x, Tensor? weight, float eps, float offset, str casting) -> Tensor";
    m.def(schema.c_str(), broken);
  };
  twin("no_eps", no_eps);
  twin("no_offset", no_offset);
  twin("tail_skipped", tail_skipped);
  twin("last_row_skipped", last_row_skipped);
  twin("stride_ignored", stride_ignored);
  twin("padded_divisor", padded_divisor);
  twin("bf16_sum", bf16_sum);
  twin("projection_dropped", projection_dropped);
  twin("dweight_row_lost", dweight_row_lost);
  twin("dweight_in_bf16", dweight_in_bf16);
}

}  // namespace tigon
