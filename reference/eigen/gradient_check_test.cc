#include "reference/eigen/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace tigon::reference {
namespace {

Matrix random(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, cols,
                             [&](Eigen::Index, Eigen::Index) { return normal(generator); });
}

Matrix cube(const Matrix& x) { return x.array().cube(); }
Matrix cube_gradient(const Matrix& dy, const Matrix& x) {
  return 3 * dy.array() * x.array().square();
}

double log_sum_exp(const Vector& x) {
  const double m = x.maxCoeff();
  return m + std::log((x.array() - m).exp().sum());
}
Vector softmax(const Vector& x) { return (x.array() - log_sum_exp(x)).exp(); }

TEST(GradientCheck, AcceptsRightGradients) {
  const Matrix x = random(3, 5, 1), dy = random(3, 5, 2);
  EXPECT_LT(check_gradient(cube, x, dy, cube_gradient(dy, x)).discrepancy, 1e-9);

  const Vector logits = random(1, 7, 3).row(0);
  EXPECT_LT(check_scalar_gradient(log_sum_exp, logits, softmax(logits)).discrepancy, 1e-9);

  // y = X w: the gradient by w is X^T dy.
  const auto product = [&x](const Vector& w) -> Matrix { return x * w; };
  const Matrix up = random(3, 1, 4);
  const Vector dw = x.transpose() * up;
  EXPECT_LT(check_vector_gradient(product, random(1, 5, 5).row(0), up, dw).discrepancy, 1e-9);
}

TEST(GradientCheck, FindsAWrongElementAndNamesIt) {
  const Matrix x = random(3, 5, 1), dy = random(3, 5, 2);
  Matrix gradient = cube_gradient(dy, x);
  gradient(1, 2) *= 1.001;
  const GradientCheck check = check_gradient(cube, x, dy, gradient);
  EXPECT_EQ(check.index, 7);
  EXPECT_GT(check.discrepancy, 1e-5);
  EXPECT_EQ(check.analytic, gradient(1, 2));
  EXPECT_NEAR(check.numeric, gradient(1, 2) / 1.001, 1e-8);
  EXPECT_NE(check.to_string().find("at element 7"), std::string::npos) << check.to_string();
}

TEST(GradientCheck, FindsADroppedTermAndAZeroGradient) {
  const Vector logits = random(1, 7, 3).row(0);
  // The gradient of logsumexp without its normalisation.
  const Vector unnormalised = logits.array().exp();
  EXPECT_GT(check_scalar_gradient(log_sum_exp, logits, unnormalised).discrepancy, 0.1);
  EXPECT_GT(check_scalar_gradient(log_sum_exp, logits, Vector::Zero(7)).discrepancy, 0.1);
}

TEST(GradientCheck, AnErrorInASmallRowIsNotHiddenByALargeOne) {
  Matrix x = random(2, 4, 6);
  x.row(0) *= 1e4;
  const Matrix dy = Matrix::Ones(2, 4);
  Matrix gradient = cube_gradient(dy, x);
  EXPECT_LT(check_gradient(cube, x, dy, gradient).discrepancy, 1e-9);
  gradient(1, 3) *= 1.01;
  EXPECT_GT(check_gradient(cube, x, dy, gradient).discrepancy, 1e-4);
}

TEST(GradientCheck, AZeroGradientIsJudgedByTheFunctionsOwnSize) {
  // Differences of sin^2 + cos^2 are nothing but rounding errors.
  const auto one = [](const Vector& x) {
    return std::pow(std::sin(x[0]), 2) + std::pow(std::cos(x[0]), 2);
  };
  const Vector x = Vector::Constant(1, 0.7);
  EXPECT_LT(check_scalar_gradient(one, x, Vector::Zero(1)).discrepancy, 1e-7);
  EXPECT_GT(check_scalar_gradient(one, x, Vector::Constant(1, 1e-3)).discrepancy, 0.9);
}

TEST(GradientCheck, FindsItsStepBesideKinksAndPolesAndAtSteepPlaces) {
  // A kink at 0, nearer than the largest steps.
  const auto relu = [](const Matrix& m) -> Matrix { return m.cwiseMax(0.0); };
  const Matrix x{{0.01, -0.02, 1.0}};
  const Matrix expected{{1, 0, 1}};
  EXPECT_LT(check_gradient(relu, x, Matrix::Ones(1, 3), expected).discrepancy, 1e-9);

  // Undefined below 0: the large steps give NaN.
  const auto log = [](const Matrix& m) -> Matrix { return m.array().log(); };
  const Matrix near_pole{{1e-3, 2.0}};
  const Matrix reciprocal = near_pole.cwiseInverse();
  EXPECT_LT(check_gradient(log, near_pole, Matrix::Ones(1, 2), reciprocal).discrepancy, 1e-8);

  // A length scale a million times below 1, at 0.
  const auto steep = [](const Matrix& m) -> Matrix { return (m * 1e6).array().tanh(); };
  const Matrix at_zero = Matrix::Zero(1, 1);
  EXPECT_LT(
      check_gradient(steep, at_zero, Matrix::Ones(1, 1), Matrix::Constant(1, 1, 1e6)).discrepancy,
      1e-6);
}

TEST(GradientCheck, NotFiniteIsInfinitelyWrong) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Matrix x = random(2, 2, 1), dy = Matrix::Ones(2, 2);
  Matrix gradient = cube_gradient(dy, x);
  gradient(1, 0) = std::nan("");
  GradientCheck check = check_gradient(cube, x, dy, gradient);
  EXPECT_EQ(check.discrepancy, infinity);
  EXPECT_EQ(check.index, 2);

  const auto overflow = [infinity](const Vector&) { return infinity; };
  check = check_scalar_gradient(overflow, Vector::Ones(1), Vector::Zero(1));
  EXPECT_EQ(check.discrepancy, infinity);
}

TEST(GradientCheck, FloorSetsWhatCountsAsZero) {
  // A difference of large numbers: exact 0, computed with errors near 1e-10.
  const auto cancelling = [](const Vector& x) { return (1e6 + x[0]) - 1e6 - x[0]; };
  const Vector x = Vector::Constant(1, 0.3);
  EXPECT_GT(check_scalar_gradient(cancelling, x, Vector::Zero(1)).discrepancy, 1e-2);
  EXPECT_LT(check_scalar_gradient(cancelling, x, Vector::Zero(1), {.floor = 1}).discrepancy, 1e-4);
}

TEST(GradientCheck, EmptyHasNothingWrong) {
  for (const auto& x : {Matrix(0, 3), Matrix(3, 0)}) {
    const GradientCheck check = check_gradient(cube, x, x, x);
    EXPECT_EQ(check.discrepancy, 0);
    EXPECT_EQ(check.index, -1);
  }
}

TEST(GradientCheck, RefusesShapesThatDoNotFit) {
  const Matrix x = random(2, 3, 1);
  EXPECT_THROW(check_gradient(cube, x, x, Matrix(2, 2)), std::invalid_argument);
  EXPECT_THROW(check_gradient(cube, x, Matrix(3, 2), x), std::invalid_argument);
}

}  // namespace
}  // namespace tigon::reference
