// SwiGLU, forward and backward in one kernel each.
//
//   y = silu(a) * b,   silu(a) = a / (1 + exp(-a))
//
// Source: Shazeer, "GLU Variants Improve Transformer" (2020).
//
// Registered with LibTorch's dispatcher for CPU, CUDA and Meta, autograd and autocast, as
//   tigon::swiglu(Tensor a, Tensor b) -> Tensor
//   tigon::swiglu_forward(Tensor a, Tensor b) -> Tensor
//   tigon::swiglu_backward(Tensor dy, Tensor a, Tensor b, bool[2] output_mask) -> (Tensor da, Tensor db)
#pragma once

#include <ATen/core/Tensor.h>

namespace tigon {

// a, b  one shape, [..., width], and one dtype: Float, BFloat16 or Half; any strides.
// Returns y, contiguous, of that shape and dtype. Everything is computed in fp32 and rounded once.
//
// Kept for the backward: a and b, nothing else. Allocated on the way: nothing. Where nobody else
// holds the upstream gradient, its buffer becomes da. Deterministic. No host synchronisation.
// A second derivative is an error. Under autocast a and b of two dtypes meet in the wider one.
// Throws c10::Error naming the argument, what it got and what it wants.
at::Tensor swiglu(const at::Tensor& a, const at::Tensor& b);

}  // namespace tigon
