#include "harness/process/devices.h"

#include <stdexcept>

#include "harness/process/supervisor_testing.h"

namespace tigon::harness {
namespace {

using Devices = SupervisorTest;

// Two jobs that end only while both run.
std::vector<DevicePlan> meeting_plans(const std::filesystem::path& folder) {
  const std::string a = folder / "a", b = folder / "b";
  DevicePlan left = plan_of({{"meet", {{"do", "meet"}, {"mine", a}, {"other", b}}, 20, 0}});
  DevicePlan right = plan_of({{"meet", {{"do", "meet"}, {"mine", b}, {"other", a}}, 20, 0}});
  left.device = "cuda:0";
  right.device = "cuda:1";
  return {left, right};
}

TEST_F(Devices, DevicesRunTogetherAfterTheExclusiveOne) {
  std::vector<DevicePlan> plans = meeting_plans(folder_);
  plans.push_back(plan_of({job("answer"), job("segfault")}));
  plans[2].exclusive = true;
  const std::vector<RunSummary> summaries = run_on_devices(plans, notebook_, stop_, options_);
  ASSERT_EQ(summaries.size(), 3u);
  EXPECT_EQ(summaries[0].finished, 1);
  EXPECT_EQ(summaries[1].finished, 1);
  EXPECT_EQ(summaries[2].finished, 2);
  ASSERT_EQ(notebook_.log.size(), 7u);
  EXPECT_EQ(std::vector<std::string>(notebook_.log.begin(), notebook_.log.begin() + 3),
            (std::vector<std::string>{"cpu hello", "cpu answer", "cpu segfault"}));
  EXPECT_EQ(notebook_.finished[2].outcome.status, "ok");
  EXPECT_EQ(notebook_.finished[3].outcome.status, "ok");
}

TEST_F(Devices, ASinkThatThrowsStopsAllDevices) {
  std::vector<DevicePlan> plans = {plan_of({job("answer")}), plan_of({job("hang")})};
  notebook_.act_on_finished = [](const Job&) { throw std::runtime_error("disk full"); };
  EXPECT_THROW(run_on_devices(plans, notebook_, stop_, options_), std::runtime_error);
  EXPECT_TRUE(stop_.requested());
}

}  // namespace
}  // namespace tigon::harness
