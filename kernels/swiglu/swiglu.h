// SwiGLU, forward and backward in one kernel each.
//
//   y = silu(a) * b,   silu(a) = a / (1 + exp(-a))
//
// Source: Shazeer, "GLU Variants Improve Transformer" (2020).
//
// Registered with LibTorch's dispatcher for CPU, CUDA and Meta, autograd and autocast, as
//   tigon::swiglu(Tensor a, Tensor b) -> Tensor
//   tigon::swiglu_forward(Tensor a, Tensor b) -> Tensor
//   tigon::swiglu_backward(Tensor dy, Tensor a, Tensor b, bool[2] output_mask) -> (Tensor da,
//   Tensor db)
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

// The same result, but the backward writes the gradients of a and b into a's and b's own storage,
// so that a training step needs no memory for them. a and b must not be used after the forward:
// their version counters are raised at the forward and at the backward, so that autograd finds
// whoever does. Refuses a leaf that requires grad (and a view of one), rows that overlap, and a
// second backward. Registered as tigon::swiglu_(Tensor(a!) a, Tensor(b!) b) -> Tensor. Not for
// torch.compile.
at::Tensor swiglu_(at::Tensor& a, at::Tensor& b);

}  // namespace tigon
