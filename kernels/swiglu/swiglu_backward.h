// The backward of SwiGLU into tensors that are there already: what swiglu and swiglu_ share.
#pragma once

#include <ATen/core/Tensor.h>

namespace tigon {

// da and db are written through their own rows; undefined where not wanted. da may be dy or a, db
// may be b. The shapes, dtypes and devices must have been checked.
void swiglu_backward_into(const at::Tensor& da, const at::Tensor& db, const at::Tensor& dy,
                          const at::Tensor& a, const at::Tensor& b);

}  // namespace tigon
