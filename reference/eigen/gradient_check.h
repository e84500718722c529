// Proves an analytic gradient by central differences in double.
//
// The derivative by each element is extrapolated from central differences at steps that halve from
// a tenth of the element's scale to some 1e-8 of it; the entry of the extrapolation table
// whose neighbours agree best is taken (after Ridders, "Accurate computation of F'(x) and
// F'(x)F''(x)", 1982). So no step has to be chosen: kinks, poles and overflow at the large steps
// and cancellation at the small ones are passed over. A right gradient of a smooth function comes
// out below 1e-7 or so, a missing term as large as its share of the gradient.
//
// Cost: 48 evaluations of the function for each element of x. Meant for small cases.
#pragma once

#include <functional>
#include <string>

#include "reference/eigen/matrix.h"

namespace tigon::reference {

struct GradientCheck {
  // The largest |analytic - numeric| / max(|analytic|, |numeric|, RMS of numeric over the row,
  // millionth of the function's own size over the element's scale, floor). The row keeps an element
  // near 0 among large ones from being judged by rounding errors, the millionth a gradient that is
  // 0 throughout. Infinite where either side is not finite; 0 when x is empty.
  double discrepancy = 0;
  // The element with that discrepancy: its place in x, row by row; -1 when x is empty.
  Eigen::Index index = -1;
  double analytic = 0, numeric = 0;

  // E.g. "discrepancy 0.25 at element 3: analytic 0.75, numeric 1".
  std::string to_string() const;
};

struct GradientCheckOptions {
  // Gradients smaller than this count as this large. Wanted where the function is less accurate
  // than a few ulps of its own value, e.g. a loss of 0 found as a difference of large numbers.
  double floor = 0;
};

// y = f(x) elementwise weighted by the upstream gradient dy, of y's shape; gradient is that of
// sum(dy * y) by x, of x's shape. f must be a pure function. Mismatched shapes throw
// std::invalid_argument.
GradientCheck check_gradient(const std::function<Matrix(const Matrix&)>& f, const Matrix& x,
                             const Matrix& dy, const Matrix& gradient,
                             const GradientCheckOptions& options = {});

// The same for a parameter: x is one row.
GradientCheck check_vector_gradient(const std::function<Matrix(const Vector&)>& f, const Vector& x,
                                    const Matrix& dy, const Vector& gradient,
                                    const GradientCheckOptions& options = {});

// The same for a function with one value, e.g. a loss.
GradientCheck check_scalar_gradient(const std::function<double(const Vector&)>& f, const Vector& x,
                                    const Vector& gradient,
                                    const GradientCheckOptions& options = {});

}  // namespace tigon::reference
