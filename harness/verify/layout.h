// How the tensors of a case lie in memory: an option axis that every operator can offer.
//   contiguous  plain
//   offset      contiguous, but the base pointer is one element off its 16-byte alignment
//   strided     rows further apart than they are wide (a slice of a wider tensor)
//   transposed  the last dimension is not the innermost one
//   expanded    every row is the first row, repeated with stride 0
// Values are those of the contiguous tensor, but for `expanded`.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "harness/sweep/axis.h"

namespace tigon::harness {

// The axis "layout" with the default contiguous.
Axis layout_axis();

// A tensor that requires no grad, of the same shape. A tensor of fewer than two dimensions has no
// rows: strided gives it gaps between the elements, transposed and expanded leave it contiguous.
at::Tensor with_layout(const at::Tensor& tensor, std::string_view layout);

}  // namespace tigon::harness
