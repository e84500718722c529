#include "harness/console/estimate.h"

#include <gtest/gtest.h>

namespace tigon::harness {
namespace {

TEST(TimeEstimate, BeginsWithTheWeights) {
  EXPECT_DOUBLE_EQ(TimeEstimate(100).remaining(0), 100);
  EXPECT_DOUBLE_EQ(TimeEstimate(100).remaining(30), 70);
}

TEST(TimeEstimate, LearnsHowFarTheWeightsAreOff) {
  TimeEstimate estimate(100);  // everything takes three times what it was thought to
  double last_error = 200;
  for (int done = 10; done < 100; done += 10) {
    estimate.finish(10, 3.0 * done);
    const double want = 3.0 * (100 - done);
    const double error = want - estimate.remaining(3.0 * done);
    EXPECT_GE(error, 0);
    EXPECT_LT(error, last_error);
    last_error = error;
  }
  EXPECT_NEAR(estimate.remaining(270), 30, 2);
}

TEST(TimeEstimate, OneSlowStartDoesNotSetTheWhole) {
  TimeEstimate estimate(100);
  estimate.finish(0.1, 5);  // 50 times its weight
  EXPECT_LT(estimate.remaining(5), 250);
}

TEST(TimeEstimate, CountsDownWhileACaseRuns) {
  TimeEstimate estimate(10);
  estimate.finish(5, 5);
  EXPECT_DOUBLE_EQ(estimate.remaining(5), 5);
  EXPECT_DOUBLE_EQ(estimate.remaining(7), 3);
  EXPECT_DOUBLE_EQ(estimate.remaining(50), 0);
}

TEST(TimeEstimate, NothingLeftIsZero) {
  TimeEstimate estimate(10);
  estimate.finish(11, 20);
  EXPECT_EQ(estimate.remaining(20), 0);
  EXPECT_EQ(TimeEstimate(0).remaining(3), 0);
}

}  // namespace
}  // namespace tigon::harness
