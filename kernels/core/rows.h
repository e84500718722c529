// A tensor seen as rows: what the kernels' launchers take.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/core/scalar_type.h"

namespace tigon {

// [rows, width] with the rows `stride` elements apart and the elements of a row adjacent.
// Holds the tensor, which is the caller's own wherever its strides allow (row strides and expanded
// leading dimensions included) and a contiguous copy otherwise.
struct Rows {
  at::Tensor tensor;
  int64_t rows, width, stride;

  const void* data() const { return tensor.const_data_ptr(); }
};

// `tensor` has at least one dimension; the last one is the width.
Rows as_rows(const at::Tensor& tensor);

// Float, BFloat16 or Half; anything else is a programming error (callers check first).
ScalarType kernel_type(at::ScalarType type);

}  // namespace tigon
