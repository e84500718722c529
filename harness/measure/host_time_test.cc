#include "harness/measure/host_time.h"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <chrono>

namespace tigon::harness {
namespace {

TEST(HostTime, IsTheTimeOfOneCallBesideAProduct) {
  const at::Tensor x = at::ones({8, 16});
  const at::Tensor w = at::ones({16});
  int calls = 0;
  const Closure step = [&calls] {
    ++calls;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(500)) {
    }
  };
  const HostTime time = measure_host_time(step, x, w, {.bursts = 5, .calls = 20});
  EXPECT_EQ(calls, (5 + 3) * 20);
  EXPECT_GE(time.step_us, 500);
  EXPECT_LT(time.step_us, 20 * 500);  // of a call, not of a burst
  EXPECT_GT(time.multiply_us, 0.5);
  EXPECT_LT(time.multiply_us, time.step_us);
  EXPECT_FALSE(x.requires_grad());
}

TEST(HostTime, RefusesNoBursts) {
  const at::Tensor x = at::ones({2});
  EXPECT_THROW(measure_host_time([] {}, x, x, {.bursts = 0}), c10::Error);
}

}  // namespace
}  // namespace tigon::harness
