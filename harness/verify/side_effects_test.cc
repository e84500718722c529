#include "harness/verify/side_effects.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "harness/verify/lanes.h"
#include "harness/verify/testing.h"

namespace tigon::harness {
namespace {

using testing::broken;
using testing::scaled_square_case;

constexpr unsigned char kNanFill = 0xFF, kOtherFill = 0x3C;

PreparedCase prepared(const Operator& op, const std::string& profile = "normal",
                      const std::string& layout = "contiguous") {
  return prepare(op, scaled_square_case(4, 6, DType::kFloat32, profile, layout), at::kCPU, 7);
}

Run chained(const PreparedCase& p, const Program::Forward& forward) {
  return lanes_of(at::kCPU).front().run(p, forward);
}

std::string fault_of(const std::string& name, const std::string& profile = "normal",
                     const std::string& layout = "contiguous") {
  const Operator op = broken(name);
  const PreparedCase p = prepared(op, profile, layout);
  return run_guarded(p, dispatcher_forward(op, op.fused), kNanFill).fault;
}

TEST(RunGuardedTest, ARightOperatorDoesNothingElseInAnyLayout) {
  const Operator op = testing::scaled_square();
  for (const std::string layout : {"contiguous", "offset", "strided", "transposed", "expanded"}) {
    const PreparedCase p = prepared(op, "normal", layout);
    const harness::Run run = run_guarded(p, dispatcher_forward(op, op.fused), kNanFill);
    EXPECT_EQ(run.fault, "") << layout;
    EXPECT_EQ(run.outputs.size(), 1u);
    EXPECT_EQ(run.gradients.size(), 2u);
    EXPECT_EQ(chained(p, dispatcher_forward(op, op.fused)).fault, "") << layout;
  }
}

TEST(RunGuardedTest, FindsAResultInTheMemoryOfAnInput) {
  EXPECT_EQ(fault_of("alias", "zeros"), "y shares memory with input x");
}

TEST(RunGuardedTest, FindsAChangedInput) {
  EXPECT_EQ(fault_of("writes_input"), "input x was changed");
}

TEST(RunGuardedTest, FindsAWriteBetweenTheRowsOfAnInput) {
  EXPECT_EQ(fault_of("writes_gap", "normal", "strided"), "input x was changed");
}

TEST(RunGuardedTest, FindsAChangedUpstreamGradient) {
  EXPECT_EQ(fault_of("writes_upstream"), "upstream gradient of y was changed");
}

TEST(RunGuardedTest, FindsAWritePastABlock) {
  EXPECT_EQ(fault_of("writes_past"),
            "1 of 1024 guard bytes after a block of 96 bytes were overwritten");
}

TEST(RunGuardedTest, ChangesNothingOfTheCaseItself) {
  const Operator op = broken("writes_input");
  const PreparedCase p = prepared(op);
  const at::Tensor before = p.inputs["x"].clone();
  run_guarded(p, dispatcher_forward(op, op.fused), kNanFill);
  chained(p, dispatcher_forward(op, op.fused));
  EXPECT_TRUE(at::equal(p.inputs["x"], before));
}

TEST(RunGuardedTest, TheTwoFillsTellAReadOfUnwrittenMemory) {
  const Operator op = broken("reads_unwritten");
  const PreparedCase p = prepared(op);
  const Program::Forward forward = dispatcher_forward(op, op.fused);
  const harness::Run one = run_guarded(p, forward, kNanFill),
                     other = run_guarded(p, forward, kOtherFill);
  EXPECT_EQ(first_difference(tensor_names(p), one, other), "y has other bits");
  EXPECT_EQ(first_difference(tensor_names(p), one, run_guarded(p, forward, kNanFill)), "");
}

TEST(RunChainedTest, GivesTheSameResults) {
  const Operator op = testing::scaled_square();
  const PreparedCase p = prepared(op);
  const Program::Forward forward = dispatcher_forward(op, op.fused);
  EXPECT_EQ(
      first_difference(tensor_names(p), run_guarded(p, forward, kNanFill), chained(p, forward)),
      "");
}

TEST(RunChainedTest, FindsAChangedInput) {
  const Operator op = broken("writes_input");
  EXPECT_EQ(chained(prepared(op), dispatcher_forward(op, op.fused)).fault, "input x was changed");
}

TEST(FirstDifferenceTest, ComparesBitsNotValues) {
  const auto run = [](double y, double dx) {
    return harness::Run{
        {at::tensor({1.0, y}, at::kFloat)}, {at::tensor({dx}, at::kFloat).to(at::kBFloat16)}, ""};
  };
  const std::vector<std::string> names = {"y", "dx"};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(first_difference(names, run(nan, nan), run(nan, nan)), "");
  EXPECT_EQ(first_difference(names, run(0.0, 1), run(-0.0, 1)), "y has other bits");
  EXPECT_EQ(first_difference(names, run(2, 1), run(2, 1.01)), "dx has other bits");
  harness::Run without = run(2, 1);
  without.gradients = {at::Tensor()};
  EXPECT_EQ(first_difference(names, run(2, 1), without), "dx has other bits");
  EXPECT_EQ(first_difference(names, without, without), "");
}

// Remembers its result by the address of its input.
TEST(NewValuesInPlaceTest, FindsResultsThatAreRememberedByAddress) {
  const Operator op = testing::scaled_square();
  const PreparedCase p = prepared(op);
  const Program::Forward right = dispatcher_forward(op, op.fused);
  EXPECT_EQ(check_new_values_in_place(p, right), "");

  std::map<const void*, std::vector<at::Tensor>> remembered;
  const Program::Forward by_address = [&](const Case& c, const Inputs& inputs) {
    auto [place, is_new] = remembered.try_emplace(inputs.all().front().tensor.const_data_ptr());
    std::vector<at::Tensor> outputs = right(c, inputs);
    if (is_new) {
      place->second = {outputs[0].detach().clone()};
    } else {  // right in its graph, stale in its values
      outputs[0] = outputs[0].sub(outputs[0].detach()).add(place->second[0]);
    }
    return outputs;
  };
  EXPECT_EQ(check_new_values_in_place(p, by_address), "y has other bits");
}

}  // namespace
}  // namespace tigon::harness
