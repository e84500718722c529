#include "reference/eigen/rms_norm.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <tuple>

#include "reference/eigen/gradient_check.h"

namespace tigon::reference {
namespace {

constexpr double kEps = 1e-6;

Matrix random(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, cols,
                             [&](Eigen::Index, Eigen::Index) { return normal(generator); });
}

// The largest discrepancy of both gradients.
double backward_discrepancy(const Matrix& x, const Vector* weight, double eps, double offset) {
  const Matrix dy = random(x.rows(), x.cols(), 77);
  const RmsNormGradients gradients = rms_norm_backward(dy, x, weight, eps, offset);
  const auto of_x = [&](const Matrix& m) { return rms_norm(m, weight, eps, offset); };
  double worst = check_gradient(of_x, x, dy, gradients.x).discrepancy;
  if (weight != nullptr) {
    const auto of_weight = [&](const Vector& w) { return rms_norm(x, &w, eps, offset); };
    const GradientCheck check = check_vector_gradient(of_weight, *weight, dy, gradients.weight);
    worst = std::max(worst, check.discrepancy);
  }
  return worst;
}

// rows, hidden, offset; with and without a weight.
class RmsNormBackward
    : public testing::TestWithParam<std::tuple<Eigen::Index, Eigen::Index, double, bool>> {};

TEST_P(RmsNormBackward, AgreesWithCentralDifferences) {
  const auto [rows, hidden, offset, has_weight] = GetParam();
  const Vector weight = random(1, hidden, 2).row(0);
  const Matrix x = random(rows, hidden, 1);
  EXPECT_LT(backward_discrepancy(x, has_weight ? &weight : nullptr, kEps, offset), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RmsNormBackward,
                         testing::Combine(testing::Values(0, 1, 4), testing::Values(1, 2, 3, 17),
                                          testing::Values(0.0, 1.0), testing::Bool()));

TEST(RmsNorm, BackwardHoldsForHostileRows) {
  Matrix x = random(5, 6, 1);
  x.row(0).setZero();
  x.row(1).setConstant(-3);
  x.row(2).array() += 1e3;
  x(3, 4) = 1e4;
  x.row(4) *= 1e-4;  // mean(x^2) far below eps
  const Vector weight = random(1, 6, 2).row(0);
  EXPECT_LT(backward_discrepancy(x, &weight, kEps, 0), 1e-7);
  EXPECT_LT(backward_discrepancy(x, nullptr, kEps, 0), 1e-7);
}

TEST(RmsNorm, AWrongGradientIsFound) {
  const Matrix x = random(3, 8, 1), dy = random(3, 8, 2);
  const Vector weight = random(1, 8, 3).row(0);
  const RmsNormGradients right = rms_norm_backward(dy, x, &weight, kEps, 1);
  const auto of_x = [&](const Matrix& m) { return rms_norm(m, &weight, kEps, 1); };
  const auto of_weight = [&](const Vector& w) { return rms_norm(x, &w, kEps, 1); };
  ASSERT_LT(check_gradient(of_x, x, dy, right.x).discrepancy, 1e-9);

  Matrix without_projection(3, 8), eps_left_out(3, 8);
  for (int i = 0; i < 3; ++i) {
    const Vector m = dy.row(i).transpose().array() * (weight.array() + 1);
    const double square = x.row(i).squaredNorm() / 8;
    without_projection.row(i) = m / std::sqrt(square + kEps);
    const double r = 1 / std::sqrt(square);
    eps_left_out.row(i) = r * m.transpose() - r * r * r / 8 * m.dot(x.row(i)) * x.row(i);
  }
  EXPECT_GT(check_gradient(of_x, x, dy, without_projection).discrepancy, 0.1);
  EXPECT_GT(check_gradient(of_x, x, dy, eps_left_out).discrepancy, 1e-7);

  // The weight gradient of rows that were not normalised.
  const Vector dw = dy.cwiseProduct(x).colwise().sum();
  EXPECT_GT(check_vector_gradient(of_weight, weight, dy, dw).discrepancy, 0.01);
  // The offset left out of dx.
  EXPECT_GT(check_gradient(of_x, x, dy, rms_norm_backward(dy, x, &weight, kEps, 0).x).discrepancy,
            0.1);
}

// To one unit of the last digit.
TEST(RmsNorm, KnownValues) {
  const Matrix x{{1, 2, 3, 4}};
  const Vector zeros = Vector::Zero(4);
  const Matrix expected{{.3651484, .7302967, 1.0954450, 1.4605934}};
  EXPECT_LT((rms_norm(x, &zeros, kEps, 1) - expected).cwiseAbs().maxCoeff(), 1e-7);
  // No weight: no affine part, and the offset plays no part.
  EXPECT_LT((rms_norm(x, nullptr, kEps, 1) - expected).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT((rms_norm(x, nullptr, kEps, 5) - expected).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(RmsNorm, RowOfZeros) {
  const Matrix x = Matrix::Zero(1, 4), dy{{1, -2, 3, 0.5}};
  const Vector weight{{1, 2, -1, 4}};
  EXPECT_EQ(rms_norm(x, &weight, kEps, 0), Matrix::Zero(1, 4));
  const RmsNormGradients gradients = rms_norm_backward(dy, x, &weight, kEps, 0);
  // r = 1 / sqrt(1e-6), and the projection on x vanishes.
  const Matrix expected{{1000, -4000, -3000, 2000}};
  EXPECT_LT((gradients.x - expected).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(gradients.weight, Vector::Zero(4));
}

TEST(RmsNorm, WidthsBeyondAnyBlock) {
  for (const Eigen::Index hidden : {65537, 131072}) {
    const Matrix x = random(1, hidden, 1);
    const Matrix y = rms_norm(x, nullptr, 0, 0);
    EXPECT_NEAR(y.squaredNorm() / static_cast<double>(hidden), 1, 1e-12);
    // y does not change with the length of x, so dx is orthogonal to x.
    const Matrix dy = random(1, hidden, 2);
    const Matrix dx = rms_norm_backward(dy, x, nullptr, 0, 0).x;
    EXPECT_NEAR(dx.row(0).dot(x.row(0)) / (dx.norm() * x.norm()), 0, 1e-13);
  }
}

TEST(RmsNorm, ZeroRowsAndWeightGradient) {
  const Vector weight = Vector::Ones(3);
  const Matrix empty(0, 3);
  EXPECT_EQ(rms_norm(empty, &weight, kEps, 0).rows(), 0);
  EXPECT_EQ(rms_norm_backward(empty, empty, &weight, kEps, 0).weight, Vector::Zero(3));
  EXPECT_EQ(rms_norm_backward(empty, empty, nullptr, kEps, 0).weight.size(), 0);
  const Matrix no_columns(3, 0);
  EXPECT_EQ(rms_norm(no_columns, nullptr, kEps, 0).size(), 0);
}

TEST(RmsNorm, ErrorsNameTheArgument) {
  const Matrix x(2, 4), dy(2, 3);
  const Vector weight(3);
  try {
    rms_norm(x, &weight, kEps, 0);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "rms_norm: weight has 3 elements, wants 4, the last size of x, which is [2, 4]");
  }
  try {
    rms_norm_backward(dy, x, nullptr, kEps, 0);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "rms_norm_backward: dy is [2, 3], wants the shape of x, [2, 4]");
  }
}

}  // namespace
}  // namespace tigon::reference
