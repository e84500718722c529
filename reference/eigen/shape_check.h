// Argument checks that the references share.
#pragma once

#include "reference/eigen/matrix.h"

namespace tigon::reference {

// Both throw std::invalid_argument, e.g. "rms_norm_backward: dy is [2, 3], wants the shape of x,
// [2, 4]".
void check_same_shape(const char* op, const char* name, const Matrix& got, const char* like,
                      const Matrix& want);
// weight may be null; else it must have one element a column of x.
void check_weight(const char* op, const Vector* weight, const Matrix& x);

}  // namespace tigon::reference
