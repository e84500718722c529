// What broken twins are made of. A mutant is a dispatcher operator with the schema of the operator
// that it is a twin of, named tigon_mutants::<operator>.<fault>; the checks must reject each.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include <vector>

namespace tigon::mutation {

// The last (width % vector) columns stay 0: a loop over whole vectors without a tail.
inline at::Tensor without_tail(const at::Tensor& y, int64_t vector) {
  const int64_t tail = y.size(-1) % vector;
  const int64_t body = y.size(-1) - tail;
  return at::cat({y.narrow(-1, 0, body), at::zeros_like(y.narrow(-1, body, tail))}, -1);
}

// The last row stays 0: a grid that is one block short.
inline at::Tensor without_last_row(const at::Tensor& y) {
  if (y.dim() < 2 || y.size(0) == 0) return y;
  const int64_t rows = y.size(0) - 1;
  return at::cat({y.narrow(0, 0, rows), at::zeros_like(y.narrow(0, rows, 1))}, 0);
}

// Reads the rows as if they were adjacent, whatever the strides.
inline at::Tensor ignoring_strides(const at::Tensor& x) {
  const auto in_storage = static_cast<int64_t>(x.storage().nbytes()) / x.element_size();
  const int64_t reachable = in_storage - x.storage_offset();
  if (x.is_contiguous() || reachable < x.numel()) return x;
  std::vector<int64_t> strides(x.dim(), 1);
  for (int64_t d = x.dim() - 2; d >= 0; --d) strides[d] = strides[d + 1] * x.size(d + 1);
  return x.as_strided(x.sizes(), strides, x.storage_offset());
}

// The same value, but its gradient is rounded to bf16 on the way: a bf16 accumulator or buffer.
inline at::Tensor with_bf16_gradient(const at::Tensor& x) {
  const at::Tensor rounded = x.to(at::kBFloat16).to(x.scalar_type());
  return x.detach().add(rounded.sub(rounded.detach()));
}

}  // namespace tigon::mutation
