// Tensors as the Eigen references take and give them. All are double, on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "reference/eigen/matrix.h"

namespace tigon::harness {

// [all leading dimensions, last dimension]; a scalar is 1 x 1.
reference::Matrix as_matrix(const at::Tensor& tensor);
reference::Vector as_vector(const at::Tensor& tensor);
std::optional<reference::Vector> as_vector(const std::optional<at::Tensor>& tensor);

// A tensor of `like`'s shape with the matrix's elements.
at::Tensor as_tensor(const reference::Matrix& matrix, const at::Tensor& like);
at::Tensor as_tensor(const reference::Vector& vector, const at::Tensor& like);

}  // namespace tigon::harness
