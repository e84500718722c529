// Checks of an operator's arguments. Each error names the operator, the argument, what it got and
// what it wants.
#pragma once

#include <ATen/core/Tensor.h>

namespace tigon {

// Float, BFloat16 or Half, at least one dimension, strided.
void check_activation(const char* op, const char* name, const at::Tensor& tensor);
// `tensor` has the shape, dtype and device of `like`.
void check_same(const char* op, const char* name, const at::Tensor& tensor, const char* like_name,
                const at::Tensor& like);
// [hidden] on x's device, of x's dtype or Float.
void check_weight(const char* op, const char* name, const at::Tensor& weight, const char* x_name,
                  const at::Tensor& x);
// An in-place operator may write over `tensor`: it is no leaf that requires grad, nor a view of
// one.
void check_inplace(const char* op, const char* name, const at::Tensor& tensor);
// Forward-mode differentiation is not offered: says so instead of dropping the tangent.
void check_no_tangent(const char* op, const at::Tensor& tensor);

}  // namespace tigon
