// SwiGLU as a LibTorch user writes it: silu(a) * b, differentiated by autograd.
#pragma once

#include <ATen/core/Tensor.h>

namespace tigon::eager {

at::Tensor swiglu(const at::Tensor& a, const at::Tensor& b);

}  // namespace tigon::eager
