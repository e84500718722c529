#include "harness/stats/stop_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace tigon::harness {
namespace {

using Values = std::vector<double>;

Values noisy(int count, double deviation) {
  std::mt19937_64 engine(11);
  std::normal_distribution<double> normal(100, deviation);
  Values result(static_cast<std::size_t>(count));
  for (double& value : result) value = normal(engine);
  return result;
}

TEST(StopRule, QuietSamplesSettleOnceThereAreEnough) {
  const StopRule rule{.min_samples = 20, .min_seconds = 0.5, .max_seconds = 5};
  EXPECT_EQ(rule.decide(noisy(19, 0.1), 1), StopDecision::kContinue);
  EXPECT_EQ(rule.decide(noisy(20, 0.1), 0.4), StopDecision::kContinue);
  EXPECT_EQ(rule.decide(noisy(20, 0.1), 0.5), StopDecision::kSettled);
}

TEST(StopRule, NoisySamplesGoOnUntilTheTimeIsUp) {
  const StopRule rule{.max_seconds = 5};
  EXPECT_EQ(rule.decide(noisy(50, 10), 4.9), StopDecision::kContinue);
  EXPECT_EQ(rule.decide(noisy(50, 10), 5), StopDecision::kNoisy);
}

TEST(StopRule, MoreSamplesSettleTheSameNoise) {
  // Half width 1.96 sqrt(pi / 2n) sigma: of 1 %, 0.5 % takes n = 24, and 0.25 % takes 97.
  const StopRule rule{.noise_limit = 0.0025, .min_samples = 5, .max_seconds = 5};
  EXPECT_EQ(rule.decide(noisy(30, 1), 1), StopDecision::kContinue);
  EXPECT_EQ(rule.decide(noisy(400, 1), 1), StopDecision::kSettled);
}

TEST(StopRule, SettledAtTheLastMomentIsNotNoisy) {
  EXPECT_EQ(StopRule{}.decide(noisy(50, 0.1), 100), StopDecision::kSettled);
}

TEST(StopRule, TooFewSamplesWhenTheTimeIsUpAreNoisy) {
  const StopRule rule{.min_samples = 1};
  EXPECT_EQ(rule.decide(Values{}, 9), StopDecision::kNoisy);
  EXPECT_EQ(rule.decide(Values{1}, 9), StopDecision::kNoisy);
  EXPECT_EQ(rule.decide(Values{1}, 1), StopDecision::kContinue);
  EXPECT_EQ(rule.decide(Values{1, 1}, 1), StopDecision::kSettled);
}

TEST(StopRule, RefusesANaN) {
  Values samples(30, 1.0);
  samples[3] = std::nan("");
  EXPECT_THROW(StopRule{}.decide(samples, 1), std::invalid_argument);
}

}  // namespace
}  // namespace tigon::harness
