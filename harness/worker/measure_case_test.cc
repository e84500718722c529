#include "harness/worker/measure_case.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "harness/process/unique_fd.h"
#include "harness/verify/testing.h"

namespace tigon::harness {
namespace {

using testing::broken;
using testing::scaled_square;

class MeasureCaseTest : public ::testing::Test {
 protected:
  // The rows of a case of 64 by 64 in fp32: 16 KiB a tensor.
  std::vector<SpeedRecord> rows_of(const Operator& op) {
    const PreparedCase prepared =
        prepare(op, testing::scaled_square_case(64, 64), at::kCPU, /*seed=*/7);
    Judge judge(prepared, find_truth(prepared));
    const Verification verification = verify(prepared, judge, dispatcher_forward(op, op.fused));
    EXPECT_EQ(verification.find("fused")->status, Status::kOk);
    WorkerChannel channel(sink_.get());
    // What is measured here is not looked at: warm caches will do, and a roof for all tests.
    static const std::unique_ptr<Clock> clock =
        make_clock(at::kCPU, ClockOptions{.flush_bytes = 0});
    static Roof roof(*clock);
    return measure_case({prepared,
                         judge,
                         verification,
                         {},
                         /*time_budget_s=*/0.1,
                         /*repetitions=*/4},
                        *clock, roof, channel);
  }

  static const SpeedRecord& find(const std::vector<SpeedRecord>& rows,
                                 std::string_view implementation, std::string_view pass) {
    for (const SpeedRecord& row : rows) {
      if (row.implementation == implementation && row.pass == pass) return row;
    }
    ADD_FAILURE() << "no row of " << implementation << ' ' << pass;
    static const SpeedRecord none;
    return none;
  }

 private:
  const UniqueFd sink_{::memfd_create("channel", MFD_CLOEXEC)};
};

TEST_F(MeasureCaseTest, KeepingMoreThanItClaimsIsWrongAndUntimed) {
  const auto rows = rows_of(broken("keeps"));
  for (const char* pass : {"forward", "backward", "step"}) {
    const SpeedRecord& row = find(rows, "fused", pass);
    EXPECT_EQ(row.status, Status::kWrong);
    EXPECT_EQ(row.verdict, "wrong");
    EXPECT_EQ(row.reason, "keeps 32768 bytes for the backward, claims at most 16384");
    EXPECT_FALSE(row.time_us.has_value());
    EXPECT_TRUE(find(rows, "eager", pass).time_us.has_value());
  }
  EXPECT_EQ(find(rows, "fused", "step").saved_bytes, 32768);
}

TEST_F(MeasureCaseTest, TakingMoreWorkspaceThanClaimedIsWrong) {
  Operator op = scaled_square();
  op.claims = [](const Case&) { return Claims{true, -1, 0}; };
  const auto rows = rows_of(op);
  const SpeedRecord& row = find(rows, "fused", "step");
  EXPECT_EQ(row.status, Status::kWrong);
  EXPECT_TRUE(row.reason.starts_with("takes ")) << row.reason;
  EXPECT_TRUE(row.reason.ends_with(" bytes of workspace, claims at most 0")) << row.reason;
}

TEST_F(MeasureCaseTest, AnImplementationThatCouldNotRunHasOneRow) {
  Operator op = scaled_square();
  op.library = [](const Case&, const Inputs&) -> std::vector<at::Tensor> {
    throw std::bad_alloc();
  };
  op.has_library = [](const Case&) { return true; };
  const auto rows = rows_of(op);
  EXPECT_EQ(rows.size(), 7u);
  EXPECT_EQ(find(rows, "library", "verify").status, Status::kOom);
  EXPECT_GT(find(rows, "fused", "step").speedup_vs_eager, 0);
}

TEST_F(MeasureCaseTest, WhatTheTimedLaunchesWroteIsJudgedAgain) {
  Operator op = scaled_square();
  // Right in verification and while memory is measured: six calls.
  op.arguments = [original = op.arguments, calls = std::make_shared<int>(0)](const Case& c,
                                                                             const Inputs& inputs) {
    std::vector<c10::IValue> arguments = original(c, inputs);
    if (++*calls > 8) arguments[1] = inputs["weight"] * 1.5;
    return arguments;
  };
  const auto rows = rows_of(op);
  const SpeedRecord& row = find(rows, "fused", "step");
  EXPECT_EQ(row.status, Status::kWrong);
  EXPECT_TRUE(row.reason.starts_with("what the timed launches wrote is wrong: y: ")) << row.reason;
  EXPECT_FALSE(row.time_us.has_value());
}

TEST_F(MeasureCaseTest, WhatBeatsTheRoofIsInvalidAndNobodysYardstick) {
  Operator op = scaled_square();
  // A cost that no machine could bear in the time that the operator takes.
  op.cost = [](const Case&) { return Cost{{0, 0, int64_t{1} << 60}, {0, 0, int64_t{1} << 60}}; };
  const auto rows = rows_of(op);
  for (const char* implementation : {"fused", "eager"}) {
    const SpeedRecord& row = find(rows, implementation, "forward");
    EXPECT_EQ(row.status, Status::kInvalid);
    EXPECT_TRUE(row.reason.starts_with("forward took ")) << row.reason;
    EXPECT_TRUE(row.reason.ends_with("allows, twice")) << row.reason;
    EXPECT_FALSE(row.speedup_vs_eager.has_value());
    EXPECT_FALSE(find(rows, implementation, "step").time_us.has_value());
  }
}

}  // namespace
}  // namespace tigon::harness
