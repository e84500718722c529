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

// Whether an element of one is an element of the other. Two slices of the same rows side by side
// (the halves of one projection) do not overlap. Where the strides differ, the answer is yes when
// the spans of memory meet.
bool overlap(const Rows& a, const Rows& b);

// Float, BFloat16 or Half; anything else is a programming error (callers check first).
ScalarType kernel_type(at::ScalarType type);

}  // namespace tigon
