#include "harness/cli/resume.h"

#include <gtest/gtest.h>

namespace tigon::harness {
namespace {

constexpr uint64_t kSeed = 3;
constexpr const char* kBinary = "digest";

Case some_case(int rows) {
  Case c;
  c.op = "op";
  c.axes = {{"rows", std::to_string(rows)}};
  c.profile = "normal";
  return c;
}

std::vector<DeviceJobs> plan_of(std::vector<PlannedCase> cases) {
  DeviceJobs device{{"cpu", "some CPU", DeviceKind::kCpu}, {}};
  for (PlannedCase& c : cases) device.jobs.push_back({std::move(c), 1, 1});
  return {device};
}

SpeedRecord row(int rows, const std::string& pass, Status status = Status::kOk) {
  SpeedRecord record;
  record.case_id = some_case(rows).id();
  record.op = "op";
  record.device = "cpu";
  record.implementation = implementation::kFused;
  record.pass = pass;
  record.status = status;
  record.seed = kSeed;
  record.binary_digest = kBinary;
  if (status == Status::kOk && pass != pass::kVerify) record.time_us = 1.0;
  return record;
}

// The number of jobs that are left after these rows.
size_t left(const PlannedCase& c, const std::vector<SpeedRecord>& rows) {
  auto plan = plan_of({c});
  const auto kept = take_finished(plan, rows, kSeed, kBinary);
  EXPECT_EQ(kept.size(), plan[0].jobs.empty() ? rows.size() : 0u);
  return plan[0].jobs.size();
}

TEST(ResumeTest, AFinishedCaseStands) {
  EXPECT_EQ(left({some_case(1), false}, {row(1, "verify")}), 0u);
  EXPECT_EQ(left({some_case(1), true}, {row(1, "forward"), row(1, "step")}), 0u);
}

TEST(ResumeTest, AFailedCaseIsTriedAgain) {
  for (const Status status : {Status::kWrong, Status::kCrash, Status::kTimeout, Status::kOom,
                              Status::kInvalid, Status::kError}) {
    EXPECT_EQ(left({some_case(1), true}, {row(1, "step", status)}), 1u) << to_string(status);
  }
}

TEST(ResumeTest, ACaseWithoutAllItsFiguresIsRunAgain) {
  EXPECT_EQ(left({some_case(1), true}, {row(1, "forward")}), 1u);
  EXPECT_EQ(left({some_case(1), true}, {row(1, "verify")}), 1u);
}

TEST(ResumeTest, RowsOfAnotherCaseDeviceSeedOrBinaryDoNotCount) {
  EXPECT_EQ(left({some_case(2), false}, {row(1, "verify")}), 1u);
  SpeedRecord other = row(1, "verify");
  other.device = "cuda:0";
  EXPECT_EQ(left({some_case(1), false}, {other}), 1u);
  other = row(1, "verify");
  other.seed = kSeed + 1;
  EXPECT_EQ(left({some_case(1), false}, {other}), 1u);
  other = row(1, "verify");
  other.binary_digest = "another";
  EXPECT_EQ(left({some_case(1), false}, {other}), 1u);
}

TEST(ResumeTest, ABaselineThatFailedDoesNotMatter) {
  SpeedRecord eager = row(1, "verify", Status::kOom);
  eager.implementation = implementation::kEager;
  EXPECT_EQ(left({some_case(1), true}, {row(1, "step"), eager}), 0u);
}

}  // namespace
}  // namespace tigon::harness
