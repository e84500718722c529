// SwiGLU in double, the truth that the kernels are judged by: y = a / (1 + exp(-a)) * b
// (Shazeer, 2020).
#pragma once

#include "reference/eigen/matrix.h"

namespace tigon::reference {

struct SwigluGradients {
  Matrix a, b;
};

// All [rows, cols].
Matrix swiglu(const Matrix& a, const Matrix& b);
SwigluGradients swiglu_backward(const Matrix& dy, const Matrix& a, const Matrix& b);

}  // namespace tigon::reference
