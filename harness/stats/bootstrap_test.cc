#include "harness/stats/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "harness/stats/quantile.h"

namespace tigon::harness {
namespace {

using Values = std::vector<double>;

Values normals(int count, double mean, double deviation, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(mean, deviation);
  Values result(static_cast<std::size_t>(count));
  for (double& value : result) value = normal(engine);
  return result;
}

// The bootstrap as the textbook has it: draw n samples with replacement, take their median.
Interval textbook(const Values& samples, int resamples) {
  std::mt19937_64 engine(7);
  std::uniform_int_distribution<std::size_t> pick(0, samples.size() - 1);
  Values medians, resample(samples.size());
  for (int i = 0; i < resamples; ++i) {
    for (double& value : resample) value = samples[pick(engine)];
    medians.push_back(median(resample));
  }
  return {median(samples), quantile(medians, 0.025), quantile(medians, 0.975)};
}

TEST(MedianInterval, SameSeedSameInterval) {
  const Values samples = normals(100, 10, 1, 1);
  const Interval a = median_interval(samples), b = median_interval(samples);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  const Interval other = median_interval(samples, {.seed = 2});
  EXPECT_TRUE(other.low != a.low || other.high != a.high);
}

TEST(MedianInterval, EqualSamplesHaveNoWidth) {
  const Interval interval = median_interval(Values(9, 3.5));
  EXPECT_EQ(interval.low, 3.5);
  EXPECT_EQ(interval.estimate, 3.5);
  EXPECT_EQ(interval.high, 3.5);
  EXPECT_EQ(interval.relative_half_width(), 0);
  EXPECT_EQ(median_interval(Values{2}).high, 2);
}

TEST(MedianInterval, AgreesWithTheTextbookForOddAndEvenCounts) {
  for (int count : {2, 3, 10, 11, 200, 201}) {
    const Values samples = normals(count, 100, 10, static_cast<uint64_t>(count));
    const Interval want = textbook(samples, 20000);
    const Interval got = median_interval(samples, {.resamples = 20000});
    EXPECT_EQ(got.estimate, want.estimate);
    // Both estimate the same two quantiles; the sampling error is a small part of the width.
    const double slack = 0.05 * (want.high - want.low);
    EXPECT_NEAR(got.low, want.low, slack) << count;
    EXPECT_NEAR(got.high, want.high, slack) << count;
  }
}

TEST(MedianInterval, HalfWidthIsThatOfTheNormalLaw) {
  // The median of n normals deviates by sqrt(pi / 2n) sigma.
  const Interval interval = median_interval(normals(4000, 100, 2, 3), {.resamples = 4000});
  const double want = 1.96 * std::sqrt(std::acos(-1.0) / 2 / 4000) * 2 / 100;
  EXPECT_NEAR(interval.relative_half_width(), want, 0.2 * want);
}

TEST(MedianInterval, CoversTheTruthAsOftenAsItSays) {
  int covered = 0;
  constexpr int kTrials = 1000;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    const Interval interval = median_interval(normals(51, 5, 1, 1000 + trial), {.seed = trial});
    covered += interval.low <= 5 && 5 <= interval.high;
  }
  // 95 %, plus what a percentile interval of 51 samples is off by and three deviations of the
  // count.
  EXPECT_NEAR(covered / double{kTrials}, 0.95, 0.03);
}

TEST(MedianInterval, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(median_interval(Values{}), std::invalid_argument);
  EXPECT_THROW(median_interval(Values{1, std::nan("")}), std::invalid_argument);
  EXPECT_THROW(median_interval(Values{1}, {.confidence = 1}), std::invalid_argument);
  EXPECT_THROW(median_interval(Values{1}, {.confidence = 0}), std::invalid_argument);
  EXPECT_THROW(median_interval(Values{1}, {.resamples = 0}), std::invalid_argument);
}

TEST(MedianPairedRatio, WhatDisturbsBothOfAPairCancels) {
  // A clock that wanders by a factor of ten, and a ratio of exactly 2.5.
  Values fast, slow;
  for (int i = 0; i < 50; ++i) {
    fast.push_back(1 + 9 * (i % 7) / 6.0);
    slow.push_back(2.5 * fast.back());
  }
  const Interval ratio = median_paired_ratio(slow, fast);
  EXPECT_NEAR(ratio.estimate, 2.5, 1e-12);
  EXPECT_NEAR(ratio.low, 2.5, 1e-12);
  EXPECT_NEAR(ratio.high, 2.5, 1e-12);
}

TEST(MedianPairedRatio, IntervalCoversTheTrueRatio) {
  const Values noise = normals(400, 0, 0.1, 5);
  Values slow, fast;
  for (std::size_t i = 0; i < 200; ++i) {
    fast.push_back(std::exp(noise[2 * i]));
    slow.push_back(3 * std::exp(noise[2 * i + 1]));
  }
  const Interval ratio = median_paired_ratio(slow, fast);
  EXPECT_LT(ratio.low, 3);
  EXPECT_GT(ratio.high, 3);
  EXPECT_LT(ratio.high - ratio.low, 0.3);  // 3 * 2 * 1.96 * sqrt(2) * 0.1 * sqrt(pi / 400) = 0.15
}

TEST(MedianPairedRatio, SwappingGivesTheReciprocal) {
  const Values a = {1, 2, 3, 4, 5}, b = {2, 1, 5, 3, 4};
  EXPECT_NEAR(median_paired_ratio(a, b).estimate * median_paired_ratio(b, a).estimate, 1, 1e-15);
}

TEST(MedianPairedRatio, RefusesWhatHasNoRatio) {
  const Values one = {1}, two = {1, 2}, zero = {0}, infinite = {INFINITY};
  EXPECT_THROW(median_paired_ratio(one, two), std::invalid_argument);
  EXPECT_THROW(median_paired_ratio(one, zero), std::invalid_argument);
  EXPECT_THROW(median_paired_ratio(infinite, one), std::invalid_argument);
  EXPECT_THROW(median_paired_ratio({}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace tigon::harness
