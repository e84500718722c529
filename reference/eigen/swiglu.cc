#include "reference/eigen/swiglu.h"

#include <cmath>

#include "reference/eigen/shape_check.h"

namespace tigon::reference {

Matrix swiglu(const Matrix& a, const Matrix& b) {
  check_same_shape("swiglu", "b", b, "a", a);
  Matrix y(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      y(i, j) = a(i, j) / (1.0 + std::exp(-a(i, j))) * b(i, j);
    }
  }
  return y;
}

// With s = sigmoid(a), ds/da = s (1 - s):
//   dL/da = dy b (s + a s (1 - s)),   dL/db = dy a s
SwigluGradients swiglu_backward(const Matrix& dy, const Matrix& a, const Matrix& b) {
  check_same_shape("swiglu_backward", "b", b, "a", a);
  check_same_shape("swiglu_backward", "dy", dy, "a", a);
  SwigluGradients gradients{Matrix(a.rows(), a.cols()), Matrix(a.rows(), a.cols())};
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      const double s = 1.0 / (1.0 + std::exp(-a(i, j)));
      gradients.a(i, j) = dy(i, j) * b(i, j) * (s + a(i, j) * s * (1.0 - s));
      gradients.b(i, j) = dy(i, j) * a(i, j) * s;
    }
  }
  return gradients;
}

}  // namespace tigon::reference
