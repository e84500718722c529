// RMSNorm, forward and backward in one kernel each.
//
//   y = x / sqrt(mean(x^2) + eps) * (offset + weight)     over the last dimension
//
// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019).
//
// Registered with LibTorch's dispatcher for CPU, CUDA and Meta, autograd and autocast, as
//   tigon::rms_norm(Tensor x, Tensor? weight, float eps=1e-6, float offset=0.0,
//                   str casting="llama") -> Tensor
//   tigon::rms_norm_forward(Tensor x, Tensor? weight, float eps, float offset, str casting)
//       -> (Tensor y, Tensor rstd)
//   tigon::rms_norm_backward(Tensor dy, Tensor x, Tensor? weight, Tensor rstd, float offset,
//       str casting, bool[2] output_mask) -> (Tensor dx, Tensor dweight)
//   tigon::rms_norm_backward_(Tensor(a!) dy, ...) -> Tensor dweight     dx in dy's storage
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

namespace tigon {

// x        [..., hidden], Float, BFloat16 or Half; any strides.
// weight   [hidden], x's dtype or Float, or none: then there is no affine part and offset is
// unused. casting  where results are rounded when x has 16 bits; sums are kept in fp32 in every
// mode.
//            "llama"  x * rstd is rounded to x's dtype, then the product with offset + weight
//            "gemma"  everything in fp32, one rounding at the end
//            "none"   rstd is rounded to x's dtype; the rest in fp32, one rounding at the end
// Returns y, contiguous, of x's shape and dtype. dweight has the weight's dtype.
//
// Kept for the backward: x, weight and one fp32 per row. Allocated on the way: nothing in the
// forward; in the backward fp32 partial sums of dweight. dx takes dy's buffer when nobody else
// holds it. Deterministic. No host synchronisation. A second derivative is an error. Throws
// c10::Error naming the argument, what it got and what it wants.
at::Tensor rms_norm(const at::Tensor& x, const std::optional<at::Tensor>& weight = std::nullopt,
                    double eps = 1e-6, double offset = 0.0, std::string_view casting = "llama");

}  // namespace tigon
