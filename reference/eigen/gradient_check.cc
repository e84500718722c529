#include "reference/eigen/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "reference/eigen/shape_check.h"

namespace tigon::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// So many halvings leave six steps to a function whose own length scale is a millionth of the
// element's, such as RMSNorm of a row of zeros with eps 1e-12.
constexpr int kSteps = 24;
constexpr double kFirstStep = 0.1;
constexpr double kNegligible = 1e-6;

struct Difference {
  double slope;     // sum(dy * (f(x + h) - f(x - h))) / 2h
  double rounding;  // what rounding f to double can have added to the slope
  double size;      // sum(|dy * f|) over the values of f that the step changes
};

double rms(const Eigen::Ref<const Vector>& v) {
  return v.size() == 0 ? 0 : v.norm() / std::sqrt(static_cast<double>(v.size()));
}

// Differences are taken value by value before they are summed: values that do not depend on the
// element then add no rounding error.
Difference central_difference(const std::function<Matrix(const Matrix&)>& f, Matrix& x,
                              Eigen::Index index, double step, const Matrix& dy) {
  double& element = x.data()[index];
  const double centre = element;
  element = centre + step;
  const double above = element;
  const Matrix y_above = f(x);
  element = centre - step;
  const double below = element;
  const Matrix y_below = f(x);
  element = centre;
  check_same_shape("check_gradient", "dy", dy, "f(x)", y_above);
  check_same_shape("check_gradient", "f(x - h)", y_below, "f(x + h)", y_above);
  Difference result{0, 0, 0};
  for (Eigen::Index i = 0; i < dy.size(); ++i) {
    const double hi = y_above.data()[i], lo = y_below.data()[i], weight = dy.data()[i];
    if (weight == 0) continue;
    if (!std::isfinite(hi) || !std::isfinite(lo)) return {kNan, kNan, kNan};
    if (hi == lo) continue;
    result.slope += weight * (hi - lo);
    result.size += std::abs(weight) * std::max(std::abs(hi), std::abs(lo));
  }
  result.slope /= above - below;
  result.rounding = kEpsilon * result.size / (above - below);
  return result;
}

struct Derivative {
  double value;
  double negligible;  // the derivative that counts as 0 beside the function's own size
};

// The limit of the slopes at steps that halve. Neville's table: row i, column j removes the error
// terms h^2 ... h^2j. Only a run of finite slopes is a table. An entry is as good as its neighbours
// are near, in proportion to itself: at steps that saturate the function all slopes are small, so
// near to each other, but not in proportion. Rounding counts as well: at small steps neighbours may
// agree by chance.
Derivative extrapolate(const std::vector<Difference>& differences, double scale) {
  Derivative best{kNan, 0};
  double least_error = kInfinity;
  std::vector<double> previous;
  for (const Difference& difference : differences) {
    std::vector<double> row;
    if (std::isfinite(difference.slope)) {
      row.push_back(difference.slope);
      const double negligible = kNegligible * difference.size / scale;
      double power = 1;
      for (size_t j = 1; j <= previous.size(); ++j) {
        power *= 4;
        row.push_back(row[j - 1] + (row[j - 1] - previous[j - 1]) / (power - 1));
        const double error =
            std::max(std::abs(row[j] - row[j - 1]), std::abs(row[j] - previous[j - 1])) +
            difference.rounding;
        const double size = std::max(std::abs(row[j]), negligible);
        const double relative_error = error == 0 ? 0 : error / size;
        if (relative_error < least_error) {
          least_error = relative_error;
          best = {row[j], negligible};
        }
      }
    }
    previous = std::move(row);
  }
  return best;
}

double relative(double analytic, double numeric, double smallest) {
  if (!std::isfinite(analytic) || !std::isfinite(numeric)) return kInfinity;
  if (analytic == numeric) return 0;
  return std::abs(analytic - numeric) / std::max({std::abs(analytic), std::abs(numeric), smallest});
}

}  // namespace

std::string GradientCheck::to_string() const {
  std::ostringstream out;
  out.precision(10);
  out << "discrepancy " << discrepancy << " at element " << index << ": analytic " << analytic
      << ", numeric " << numeric;
  return out.str();
}

GradientCheck check_gradient(const std::function<Matrix(const Matrix&)>& f, const Matrix& x,
                             const Matrix& dy, const Matrix& gradient,
                             const GradientCheckOptions& options) {
  check_same_shape("check_gradient", "gradient", gradient, "x", x);
  GradientCheck worst;
  Matrix moved = x;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Vector row = x.row(i);
    const double row_scale = rms(row);
    Vector numeric(x.cols()), negligible(x.cols());
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      double scale = std::max(std::abs(row[j]), row_scale);
      if (scale == 0) scale = 1;
      std::vector<Difference> differences;
      for (int k = 0; k < kSteps; ++k) {
        const double step = std::ldexp(kFirstStep * scale, -k);
        differences.push_back(central_difference(f, moved, i * x.cols() + j, step, dy));
      }
      const Derivative derivative = extrapolate(differences, scale);
      numeric[j] = derivative.value;
      negligible[j] = derivative.negligible;
    }
    const double row_size = numeric.allFinite() ? rms(numeric) : 0;
    for (Eigen::Index j = 0; j < x.cols(); ++j) {
      const double smallest = std::max({row_size, negligible[j], options.floor});
      const double discrepancy = relative(gradient(i, j), numeric[j], smallest);
      if (worst.index < 0 || discrepancy > worst.discrepancy) {
        worst = {discrepancy, i * x.cols() + j, gradient(i, j), numeric[j]};
      }
    }
  }
  return worst;
}

GradientCheck check_vector_gradient(const std::function<Matrix(const Vector&)>& f, const Vector& x,
                                    const Matrix& dy, const Vector& gradient,
                                    const GradientCheckOptions& options) {
  const auto of_row = [&f](const Matrix& row) { return f(row.row(0).transpose()); };
  return check_gradient(of_row, x.transpose(), dy, gradient.transpose(), options);
}

GradientCheck check_scalar_gradient(const std::function<double(const Vector&)>& f, const Vector& x,
                                    const Vector& gradient, const GradientCheckOptions& options) {
  const auto as_matrix = [&f](const Vector& v) { return Matrix::Constant(1, 1, f(v)); };
  return check_vector_gradient(as_matrix, x, Matrix::Ones(1, 1), gradient, options);
}

}  // namespace tigon::reference
