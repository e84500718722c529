// RMSNorm in double, the truth that the kernels are judged by.
//   y = x * r * (offset + w),  r = 1 / sqrt(mean(x^2) + eps)   (Zhang and Sennrich, 2019)
// The casting modes only differ in roundings, so they have no place here.
#pragma once

#include "reference/eigen/matrix.h"

namespace tigon::reference {

struct RmsNormGradients {
  Matrix x;
  Vector weight;  // empty when there is no weight
};

// x: [rows, hidden]. weight: [hidden] or null, then offset is not used.
Matrix rms_norm(const Matrix& x, const Vector* weight, double eps, double offset);
RmsNormGradients rms_norm_backward(const Matrix& dy, const Matrix& x, const Vector* weight,
                                   double eps, double offset);

}  // namespace tigon::reference
