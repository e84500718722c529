#include "harness/cli/plan.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "harness/verify/testing.h"

namespace tigon::harness {
namespace {

using testing::scaled_square;

const ChosenDevice kCpu{"cpu", "Some CPU", DeviceKind::kCpu};
const ChosenDevice kGpu{"cuda:0", "Some GPU", DeviceKind::kCuda};

Options options_of(const std::vector<std::string>& arguments) {
  return parse_command_line(arguments, "all").options;
}

std::vector<DeviceJobs> plan_of(const std::vector<std::string>& arguments,
                                const std::vector<ChosenDevice>& devices = {kCpu}) {
  const std::vector<Operator> operators = {scaled_square()};
  return make_plan(options_of(arguments), operators, devices);
}

std::vector<std::string> ids(const DeviceJobs& device) {
  std::vector<std::string> result;
  for (const PlannedJob& job : device.jobs) {
    result.push_back(job.planned.c.point() + (job.planned.timed ? " timed" : ""));
  }
  return result;
}

std::string error_of(const std::vector<std::string>& arguments,
                     const std::vector<ChosenDevice>& devices = {kCpu}) {
  try {
    plan_of(arguments, devices);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

using Ids = std::vector<std::string>;

TEST(PlanTest, APresetTakesItsSweepsOnEachDevice) {
  const Ids smoke = {"rows=4/hidden=6/fp32/normal timed", "rows=4/hidden=6/bf16/normal timed"};
  Ids standard = smoke;
  standard.insert(standard.end(), {"rows=3/hidden=1/fp32/normal", "rows=3/hidden=7/fp32/normal",
                                   "rows=3/hidden=64/fp32/normal"});
  Ids full_on_gpu = standard;
  full_on_gpu.emplace_back("rows=8192/hidden=4096/bf16/normal timed");
  EXPECT_EQ(ids(plan_of({"--preset=smoke"})[0]), smoke);
  EXPECT_EQ(ids(plan_of({})[0]), standard);
  const auto both = plan_of({"--preset=full"}, {kCpu, kGpu});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].device.id, "cuda:0");
  EXPECT_EQ(ids(both[0]), standard);
  EXPECT_EQ(ids(both[1]), full_on_gpu);
}

TEST(PlanTest, FiltersNarrowIt) {
  EXPECT_EQ(ids(plan_of({"--dtype=bf16"})[0]), Ids{"rows=4/hidden=6/bf16/normal timed"});
  EXPECT_EQ(ids(plan_of({"--axis=hidden=6,7", "--dtype=fp32"})[0]),
            (Ids{"rows=4/hidden=6/fp32/normal timed", "rows=3/hidden=7/fp32/normal"}));
  EXPECT_EQ(ids(plan_of({"*hidden=64*"})[0]), Ids{"rows=3/hidden=64/fp32/normal"});
}

TEST(PlanTest, BenchTakesTimedCasesVerifyTimesNone) {
  EXPECT_EQ(plan_of({"bench"})[0].jobs.size(), 2u);
  const auto verified = plan_of({"verify"});
  EXPECT_EQ(verified[0].jobs.size(), 5u);
  for (const PlannedJob& job : verified[0].jobs) {
    EXPECT_FALSE(job.planned.timed);
    EXPECT_EQ(job.time_budget_s, 0);
    EXPECT_GT(job.weight_s, 0);
  }
}

TEST(PlanTest, GoogleBenchmarksFilterChoosesCasesByTheirBenchmarks) {
  EXPECT_EQ(ids(plan_of({"--benchmark_filter=bf16/.*eager/step"})[0]),
            Ids{"rows=4/hidden=6/bf16/normal timed"});
  EXPECT_NE(error_of({"--benchmark_filter=library"}), "no error");
}

TEST(PlanTest, TheBudgetIsDividedAmongTheTimedCases) {
  const auto budgets = [](const std::vector<std::string>& arguments) {
    std::vector<double> seconds;
    const auto plan = plan_of(arguments);
    for (const PlannedJob& job : plan[0].jobs) {
      seconds.push_back(job.time_budget_s);
      EXPECT_GT(job.weight_s, job.time_budget_s);
    }
    return seconds;
  };
  const double smoke = preset_budget_s(Preset::kSmoke);
  const std::vector<double> two = budgets({"--preset=smoke"});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0], two[1]);
  EXPECT_LT(two[0] + two[1], smoke);
  EXPECT_GT(two[0] + two[1], smoke / 4);
  // Alone it gets more, up to a limit; a preset of an hour gives no case minutes.
  EXPECT_GT(budgets({"--preset=smoke", "--dtype=bf16"})[0], two[0]);
  EXPECT_LE(budgets({"--preset=full"})[0], 15);
  EXPECT_EQ(budgets({"--axis=hidden=64"})[0], 0);
}

TEST(PlanTest, LargerCasesAreThoughtToTakeLonger) {
  const auto plan = plan_of({"verify", "--preset=full"}, {kGpu});
  EXPECT_GT(plan[0].jobs.back().weight_s, 2 * plan[0].jobs.front().weight_s);
}

TEST(PlanTest, UnknownNamesAreNamed) {
  EXPECT_EQ(error_of({"--operator=scaled_sqare"}),
            "unknown operator \"scaled_sqare\": did you mean \"scaled_square\"? Known: "
            "scaled_square");
  EXPECT_NE(error_of({"--axis=width=3"}).find("unknown axis \"width\""), std::string::npos);
  EXPECT_NE(error_of({"--profile=odd"}).find("unknown profile \"odd\""), std::string::npos);
  EXPECT_NE(error_of({"--dtype=fp8"}).find("fp8"), std::string::npos);
  EXPECT_NE(error_of({"--regex", "a(/"}).find("regular expression"), std::string::npos);
}

TEST(PlanTest, NothingLeftIsAMistakeThatSaysOutOfWhat) {
  EXPECT_EQ(error_of({"*hidden=8*"}),
            "none of the 5 cases of preset default on cpu is left; `list` shows them, "
            "--preset=full has more");
  // Known, but not in this preset or on this device.
  EXPECT_NE(error_of({"--preset=smoke", "--axis=hidden=64"}).find("none of the 2 cases"),
            std::string::npos);
}

TEST(PlanTest, ADeviceWithNothingLeftIsLeftOut) {
  const auto plan = plan_of({"--preset=full", "--axis=hidden=4096"}, {kCpu, kGpu});
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].device.id, "cuda:0");
}

TEST(PlanTest, AnOperatorThatIsNotThereIsNamed) {
  const std::vector<Operator> operators = {scaled_square()};
  EXPECT_EQ(&find_operator(operators, "scaled_square"), &operators[0]);
  EXPECT_THROW(find_operator(operators, "other"), std::invalid_argument);
}

TEST(ReproduceCommandTest, RunsTheOneCaseAgain) {
  ::unsetenv("TIGON_LAUNCHER");
  const Options options = options_of({"bench", "--seed=5", "--preset=full"});
  EXPECT_EQ(reproduce_command("rms_norm", options, "rms_norm/rows=1/bf16/normal", "cuda:1"),
            "bazel run //suites:rms_norm -- bench 'rms_norm/rows=1/bf16/normal' --device=cuda:1 "
            "--seed=5 --preset=full");
  ::setenv("TIGON_LAUNCHER", "./tigon", 1);
  EXPECT_TRUE(reproduce_command("all", options, "x/y", "cpu").starts_with("./tigon bench 'x/y' "));
  ::unsetenv("TIGON_LAUNCHER");
}

TEST(ReproduceCommandTest, TheCommandPlansThatCaseAlone) {
  const std::string id = plan_of({})[0].jobs[2].planned.c.id();
  EXPECT_EQ(plan_of({id})[0].jobs.size(), 1u);
  EXPECT_EQ(plan_of({id})[0].jobs[0].planned.c.id(), id);
}

}  // namespace
}  // namespace tigon::harness
