#include "harness/console/outcome.h"

#include <gtest/gtest.h>

namespace tigon::harness {
namespace {

SpeedRecord row(std::string case_id, std::string_view implementation, std::string_view pass,
                Status status = Status::kOk) {
  SpeedRecord record;
  record.case_id = std::move(case_id);
  record.op = "op";
  record.device = "cpu";
  record.implementation = implementation;
  record.pass = pass;
  record.status = status;
  return record;
}

using implementation::kEager, implementation::kFused;

TEST(Outcome, RowsOfACaseAreDrawnTogether) {
  std::vector<SpeedRecord> records = {
      row("a", kFused, pass::kForward), row("b", kFused, pass::kForward),
      row("a", kEager, pass::kForward), row("a", kFused, pass::kBackward, Status::kNoisy)};
  records[0].limit_used = 0.3;
  records[3].limit_used = 0.2;
  const auto outcomes = case_outcomes(records);
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[0].case_id, "a");
  EXPECT_EQ(outcomes[0].fused.size(), 2u);
  EXPECT_EQ(outcomes[0].status(), Status::kNoisy);
  EXPECT_TRUE(outcomes[0].right());
  EXPECT_EQ(outcomes[0].limit_used, 0.3);
  EXPECT_EQ(outcomes[0].row(pass::kBackward), &records[3]);
  EXPECT_EQ(outcomes[0].row(pass::kStep), nullptr);
  EXPECT_EQ(outcomes[1].limit_used, std::nullopt);
}

TEST(Outcome, TheSameCaseOnTwoDevicesIsTwoOutcomes) {
  std::vector<SpeedRecord> records = {row("a", kFused, pass::kForward),
                                      row("a", kFused, pass::kForward, Status::kWrong)};
  records[1].device = "cuda:0";
  const auto outcomes = case_outcomes(records);
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_TRUE(outcomes[0].right());
  EXPECT_FALSE(outcomes[1].right());
}

TEST(Outcome, TheFirstOfTheWorstRowsDecides) {
  const std::vector<SpeedRecord> records = {row("a", kFused, pass::kForward, Status::kCrash),
                                            row("a", kFused, pass::kBackward, Status::kWrong),
                                            row("a", kFused, pass::kStep, Status::kWrong)};
  EXPECT_EQ(case_outcomes(records)[0].deciding, &records[1]);
}

TEST(Outcome, AFailedBaselineCountsUnlessItRanOutOfMemory) {
  const std::vector<SpeedRecord> crashed = {row("a", kFused, pass::kForward),
                                            row("a", kEager, pass::kForward, Status::kCrash)};
  EXPECT_EQ(case_outcomes(crashed)[0].status(), Status::kCrash);
  EXPECT_EQ(case_outcomes(crashed)[0].fused.size(), 1u);
  const std::vector<SpeedRecord> full = {row("a", kFused, pass::kForward),
                                         row("a", kEager, pass::kForward, Status::kOom)};
  EXPECT_EQ(case_outcomes(full)[0].status(), Status::kOk);
  EXPECT_TRUE(case_outcomes({row("a", kEager, pass::kForward)}).empty());
}

TEST(Outcome, VerifyOnlyWhenNoPassWasToBeTimed) {
  EXPECT_TRUE(case_outcomes({row("a", kFused, pass::kVerify)})[0].verify_only);
  EXPECT_FALSE(case_outcomes({row("a", kFused, pass::kForward, Status::kCrash)})[0].verify_only);
}

}  // namespace
}  // namespace tigon::harness
