#include "kernels/core/rows.h"

#include <c10/util/Exception.h>

namespace tigon {
namespace {

// The distance between rows if the leading dimensions are evenly spaced as one, or -1.
int64_t row_stride(const at::Tensor& tensor) {
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  const int64_t last = tensor.dim() - 1;
  if (sizes[last] > 1 && strides[last] != 1) return -1;
  int64_t stride = -1;     // of the innermost leading dimension that has more than one element
  int64_t next_outer = 0;  // what the next outer dimension's stride has to be
  for (int64_t d = last - 1; d >= 0; --d) {
    if (sizes[d] == 1) continue;
    if (stride < 0) {
      stride = strides[d];
    } else if (strides[d] != next_outer) {
      return -1;
    }
    next_outer = strides[d] * sizes[d];
  }
  return stride < 0 ? sizes[last] : stride;
}

}  // namespace

Rows as_rows(const at::Tensor& tensor) {
  const int64_t width = tensor.sizes().back();
  const int64_t rows = width == 0
                           ? c10::multiply_integers(tensor.sizes().slice(0, tensor.dim() - 1))
                           : tensor.numel() / width;
  if (tensor.is_contiguous()) return {tensor, rows, width, width};
  const int64_t stride = row_stride(tensor);
  if (stride >= 0) return {tensor, rows, width, stride};
  return {tensor.contiguous(), rows, width, width};
}

bool overlap(const Rows& a, const Rows& b) {
  if (a.rows == 0 || a.width == 0 || b.rows == 0 || b.width == 0) return false;
  const auto size = static_cast<int64_t>(a.tensor.element_size());
  const int64_t a_begin = reinterpret_cast<intptr_t>(a.data()) / size;
  const int64_t b_begin = reinterpret_cast<intptr_t>(b.data()) / size;
  const int64_t a_end = a_begin + (a.rows - 1) * a.stride + a.width;
  const int64_t b_end = b_begin + (b.rows - 1) * b.stride + b.width;
  if (a_end <= b_begin || b_end <= a_begin) return false;
  if (a.stride != b.stride || a.stride == 0) return true;
  // b's rows begin this far behind a row of a's, wherever that is.
  const int64_t behind = ((b_begin - a_begin) % a.stride + a.stride) % a.stride;
  return behind < a.width || behind + b.width > a.stride;
}

ScalarType kernel_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return ScalarType::kFloat32;
    case at::kBFloat16:
      return ScalarType::kBFloat16;
    case at::kHalf:
      return ScalarType::kFloat16;
    default:
      TORCH_INTERNAL_ASSERT(false, "no kernel for ", type);
  }
}

}  // namespace tigon
