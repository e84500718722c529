#include "kernels/core/checks.h"

#include <c10/util/Exception.h>

namespace tigon {
namespace {

bool is_activation_type(at::ScalarType type) {
  return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf;
}

void check_device(const char* op, const char* name, const at::Tensor& tensor, const char* like_name,
                  const at::Tensor& like) {
  TORCH_CHECK(tensor.device() == like.device(), op, ": ", name, " is on ", tensor.device(),
              ", expected ", like.device(), " (the device of ", like_name, ")");
}

}  // namespace

void check_activation(const char* op, const char* name, const at::Tensor& tensor) {
  TORCH_CHECK(is_activation_type(tensor.scalar_type()), op, ": ", name, " has dtype ",
              tensor.scalar_type(), ", expected Float, BFloat16 or Half");
  TORCH_CHECK(tensor.dim() >= 1, op, ": ", name,
              " has no dimensions, expected at least one (the last is the row)");
  TORCH_CHECK(tensor.layout() == at::kStrided, op, ": ", name, " has layout ", tensor.layout(),
              ", expected Strided");
}

void check_same(const char* op, const char* name, const at::Tensor& tensor, const char* like_name,
                const at::Tensor& like) {
  TORCH_CHECK(tensor.sym_sizes() == like.sym_sizes(), op, ": ", name, " has shape ",
              tensor.sym_sizes(), ", expected ", like.sym_sizes(), " (the shape of ", like_name,
              ")");
  TORCH_CHECK(tensor.scalar_type() == like.scalar_type(), op, ": ", name, " has dtype ",
              tensor.scalar_type(), ", expected ", like.scalar_type(), " (the dtype of ", like_name,
              ")");
  TORCH_CHECK(tensor.layout() == at::kStrided, op, ": ", name, " has layout ", tensor.layout(),
              ", expected Strided");
  check_device(op, name, tensor, like_name, like);
}

void check_weight(const char* op, const char* name, const at::Tensor& weight, const char* x_name,
                  const at::Tensor& x) {
  const c10::SymInt hidden = x.sym_size(-1);
  TORCH_CHECK(weight.dim() == 1 && weight.sym_size(0) == hidden, op, ": ", name, " has shape ",
              weight.sym_sizes(), ", expected [", hidden, "] (the last dimension of ", x_name, ")");
  TORCH_CHECK(weight.scalar_type() == x.scalar_type() || weight.scalar_type() == at::kFloat, op,
              ": ", name, " has dtype ", weight.scalar_type(), ", expected ", x.scalar_type(),
              " (the dtype of ", x_name, ") or Float");
  check_device(op, name, weight, x_name, x);
}

void check_inplace(const char* op, const char* name, const at::Tensor& tensor) {
  const auto is_wanted_leaf = [](const at::TensorBase& t) {
    return t.requires_grad() && t.is_leaf();
  };
  TORCH_CHECK(!is_wanted_leaf(tensor), op, ": ", name,
              " is a leaf that requires grad, expected a tensor that was computed (its values are"
              " written over)");
  TORCH_CHECK(
      !(tensor.is_view() && is_wanted_leaf(tensor._base())), op, ": ", name,
      " is a view of a leaf that requires grad, expected a tensor that was computed (its values"
      " are written over)");
}

void check_no_tangent(const char* op, const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(!tensor._fw_grad(/*level=*/0).defined(), op,
                              ": forward-mode differentiation is not supported, use backward");
}

}  // namespace tigon
