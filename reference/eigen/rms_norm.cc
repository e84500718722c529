#include "reference/eigen/rms_norm.h"

#include <cmath>

#include "reference/eigen/shape_check.h"

namespace tigon::reference {
namespace {

// r of one row of x.
double inverse_rms(const Matrix& x, Eigen::Index row, double eps) {
  const double mean_square = x.row(row).squaredNorm() / static_cast<double>(x.cols());
  return 1.0 / std::sqrt(mean_square + eps);
}

// What x * r is multiplied by, one element a column.
Vector scale(const Matrix& x, const Vector* weight, double offset) {
  if (weight == nullptr) return Vector::Ones(x.cols());
  return weight->array() + offset;
}

}  // namespace

Matrix rms_norm(const Matrix& x, const Vector* weight, double eps, double offset) {
  check_weight("rms_norm", weight, x);
  const Vector s = scale(x, weight, offset);
  Matrix y(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    y.row(i) = (x.row(i) * inverse_rms(x, i, eps)).cwiseProduct(s.transpose());
  }
  return y;
}

// With n_j = x_j r and r = (mean(x^2) + eps)^(-1/2):  dr/dx_k = -r^3 x_k / H, so that
//   dL/dx_k = sum_j m_j dn_j/dx_k = r m_k - (r^3 / H) (sum_j m_j x_j) x_k,   m_j = dy_j s_j
//   dL/dw_j = sum over rows of dy_j n_j
RmsNormGradients rms_norm_backward(const Matrix& dy, const Matrix& x, const Vector* weight,
                                   double eps, double offset) {
  check_weight("rms_norm_backward", weight, x);
  check_same_shape("rms_norm_backward", "dy", dy, "x", x);
  const Vector s = scale(x, weight, offset);
  RmsNormGradients gradients;
  gradients.x.resize(x.rows(), x.cols());
  if (weight != nullptr) gradients.weight = Vector::Zero(x.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const double r = inverse_rms(x, i, eps);
    const Vector xi = x.row(i);
    const Vector dyi = dy.row(i);
    const Vector m = dyi.cwiseProduct(s);
    const double c = r * r * r / static_cast<double>(x.cols()) * m.dot(xi);
    gradients.x.row(i) = r * m - c * xi;
    if (weight != nullptr) gradients.weight += dyi.cwiseProduct(xi * r);
  }
  return gradients;
}

}  // namespace tigon::reference
