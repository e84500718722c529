#include "reference/eigen/swiglu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <tuple>

#include "reference/eigen/gradient_check.h"

namespace tigon::reference {
namespace {

Matrix random(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, 3);
  return Matrix::NullaryExpr(rows, cols,
                             [&](Eigen::Index, Eigen::Index) { return normal(generator); });
}

void expect_backward_right(const Matrix& a, const Matrix& b) {
  const Matrix dy = random(a.rows(), a.cols(), 77);
  const SwigluGradients gradients = swiglu_backward(dy, a, b);
  const auto of_a = [&b](const Matrix& m) { return swiglu(m, b); };
  const auto of_b = [&a](const Matrix& m) { return swiglu(a, m); };
  const GradientCheck check_a = check_gradient(of_a, a, dy, gradients.a);
  const GradientCheck check_b = check_gradient(of_b, b, dy, gradients.b);
  EXPECT_LT(check_a.discrepancy, 1e-8) << check_a.to_string();
  EXPECT_LT(check_b.discrepancy, 1e-8) << check_b.to_string();
}

class SwigluBackward : public testing::TestWithParam<std::tuple<Eigen::Index, Eigen::Index>> {};

TEST_P(SwigluBackward, AgreesWithCentralDifferences) {
  const auto [rows, cols] = GetParam();
  expect_backward_right(random(rows, cols, 1), random(rows, cols, 2));
}

INSTANTIATE_TEST_SUITE_P(Shapes, SwigluBackward,
                         testing::Combine(testing::Values(0, 1, 4), testing::Values(0, 1, 3, 17)));

TEST(Swiglu, BackwardHoldsForHostileValues) {
  // Zeros, saturated gates, large values.
  const Matrix a{{0, 0, 30, -30, 700, -1e3, 1e4}, {1e-8, -1e-8, -1.2784645, 5, -5, 1, -1}};
  const Matrix b{{0, 2, 1, 1, -1, 1, 1e3}, {1, 1, 1, 0, 1e-5, -1, 3}};
  expect_backward_right(a, b);
}

TEST(Swiglu, AWrongGradientIsFound) {
  const Matrix a = random(3, 5, 1), b = random(3, 5, 2), dy = random(3, 5, 3);
  const auto of_a = [&b](const Matrix& m) { return swiglu(m, b); };
  const auto of_b = [&a](const Matrix& m) { return swiglu(a, m); };
  const Eigen::ArrayXXd s = (1 + (-a.array()).exp()).inverse();
  // The derivative of the sigmoid left out.
  const Matrix wrong_a = dy.array() * b.array() * s;
  EXPECT_GT(check_gradient(of_a, a, dy, wrong_a).discrepancy, 0.1);
  // The sigmoid in place of silu.
  const Matrix wrong_b = dy.array() * s;
  EXPECT_GT(check_gradient(of_b, b, dy, wrong_b).discrepancy, 0.1);
}

TEST(Swiglu, KnownValues) {
  const Matrix one = Matrix::Ones(1, 1);
  EXPECT_NEAR(swiglu(one, one)(0, 0), .7310586, 5e-8);
  const SwigluGradients gradients = swiglu_backward(one, one, one);
  EXPECT_NEAR(gradients.a(0, 0), .9276705, 5e-8);
  EXPECT_NEAR(gradients.b(0, 0), .7310586, 5e-8);
}

// y = swiglu(e^x, e^x) at 0: both inputs are e^x, whose derivative is e^x = 1.
TEST(Swiglu, BothInputsFromOneTensor) {
  const auto y = [](const Vector& x) {
    const Matrix e = Matrix::Constant(1, 1, std::exp(x[0]));
    return swiglu(e, e)(0, 0);
  };
  const Vector gradient = Vector::Constant(1, 1.6587291);
  EXPECT_LT(check_scalar_gradient(y, Vector::Zero(1), gradient).discrepancy, 5e-8);
}

TEST(Swiglu, StaysFiniteWhereTheExponentialOverflows) {
  const Matrix a{{-1e3, 1e3, -1e300, 1e300}}, b{{1, 1, 1, 1e-300}};
  const Matrix y = swiglu(a, b);
  EXPECT_EQ(y, (Matrix{{0, 1e3, 0, 1}}));
  const SwigluGradients gradients = swiglu_backward(Matrix::Ones(1, 4), a, b);
  EXPECT_EQ(gradients.a, (Matrix{{0, 1, 0, 1e-300}}));
  EXPECT_EQ(gradients.b, (Matrix{{0, 1e3, 0, 1e300}}));
}

TEST(Swiglu, ErrorsNameTheArgument) {
  try {
    swiglu(Matrix(2, 3), Matrix(3, 2));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "swiglu: b is [3, 2], wants the shape of a, [2, 3]");
  }
  EXPECT_THROW(swiglu_backward(Matrix(1, 3), Matrix(2, 3), Matrix(2, 3)), std::invalid_argument);
}

}  // namespace
}  // namespace tigon::reference
