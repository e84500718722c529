#include "harness/stats/quantile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace tigon::harness {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  // The values numpy.quantile gives.
  const Values values = {15, 20, 35, 40, 50};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 15);
  EXPECT_DOUBLE_EQ(quantile(values, 0.05), 16);
  EXPECT_DOUBLE_EQ(quantile(values, 0.3), 23);
  EXPECT_DOUBLE_EQ(quantile(values, 0.4), 29);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 50);
}

TEST(Quantile, OrderDoesNotMatter) {
  EXPECT_DOUBLE_EQ(quantile(Values{50, 15, 40, 20, 35}, 0.4), 29);
}

TEST(Median, OfOddEvenAndSingleCounts) {
  EXPECT_EQ(median(Values{3, 1, 2}), 2);
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Values{7}), 7);
  EXPECT_EQ(median(Values{1, kInfinity, kInfinity}), kInfinity);
}

TEST(Quantile, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(median(Values{}), std::invalid_argument);
  EXPECT_THROW(median(Values{1, std::nan("")}), std::invalid_argument);
  EXPECT_THROW(quantile(Values{1}, -0.1), std::invalid_argument);
  EXPECT_THROW(quantile(Values{1}, 1.1), std::invalid_argument);
  EXPECT_THROW(quantile(Values{1}, std::nan("")), std::invalid_argument);
}

TEST(Summarize, AgreesWithTheSingleFigures) {
  const Values values = {9, 1, 8, 2, 7, 3, 6, 4, 5, 100};
  const Summary summary = summarize(values);
  EXPECT_EQ(summary.median, median(values));
  EXPECT_EQ(summary.p10, quantile(values, 0.1));
  EXPECT_EQ(summary.p90, quantile(values, 0.9));
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.count, 10);
}

TEST(GeometricMean, OfRatios) {
  EXPECT_DOUBLE_EQ(geometric_mean(Values{2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean(Values{0.5, 2}), 1);
  // The product would overflow; the mean of logarithms does not.
  EXPECT_NEAR(std::log10(geometric_mean(Values{1e200, 1e300, 1e-100})), 400.0 / 3, 1e-12);
  EXPECT_THROW(geometric_mean(Values{}), std::invalid_argument);
  EXPECT_THROW(geometric_mean(Values{1, 0}), std::invalid_argument);
  EXPECT_THROW(geometric_mean(Values{1, -2}), std::invalid_argument);
  EXPECT_THROW(geometric_mean(Values{std::nan("")}), std::invalid_argument);
}

}  // namespace
}  // namespace tigon::harness
