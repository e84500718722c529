#include "harness/eigen_bridge.h"

#include <ATen/ops/empty_like.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace tigon::harness {
namespace {

at::Tensor filled(const double* data, int64_t count, const at::Tensor& like) {
  TORCH_INTERNAL_ASSERT(count == like.numel(), "the reference gave ", count, " elements, expected ",
                        like.numel());
  at::Tensor tensor = at::empty_like(like, at::MemoryFormat::Contiguous);
  std::copy_n(data, count, tensor.mutable_data_ptr<double>());
  return tensor;
}

}  // namespace

reference::Matrix as_matrix(const at::Tensor& tensor) {
  const at::Tensor t = tensor.contiguous();
  const int64_t cols = t.dim() == 0 ? 1 : t.size(-1);
  const int64_t rows = t.dim() == 0 ? 1 : c10::multiply_integers(t.sizes().slice(0, t.dim() - 1));
  return Eigen::Map<const reference::Matrix>(t.const_data_ptr<double>(), rows, cols);
}

reference::Vector as_vector(const at::Tensor& tensor) {
  const at::Tensor t = tensor.contiguous();
  return Eigen::Map<const reference::Vector>(t.const_data_ptr<double>(), t.numel());
}

std::optional<reference::Vector> as_vector(const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional(as_vector(*tensor)) : std::nullopt;
}

at::Tensor as_tensor(const reference::Matrix& matrix, const at::Tensor& like) {
  return filled(matrix.data(), matrix.size(), like);
}

at::Tensor as_tensor(const reference::Vector& vector, const at::Tensor& like) {
  return filled(vector.data(), vector.size(), like);
}

}  // namespace tigon::harness
