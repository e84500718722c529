#include "harness/measure/compare.h"

#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

namespace tigon::harness {
namespace {

const c10::Device kCpu(c10::DeviceType::CPU);

void spin_us(double us) {
  const auto start = std::chrono::steady_clock::now();
  while (
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() <
      us) {
  }
}

Timed spinning(std::string name, double us) {
  return {std::move(name), nullptr, [us] { spin_us(us); }, nullptr};
}

std::unique_ptr<Clock> warm_clock() { return make_clock(kCpu, {.flush_bytes = 0}); }

TEST(Clock, CpuSampleIsTheClosureAloneAndFlushesByDefault) {
  const auto clock = make_clock(kCpu);
  EXPECT_GT(clock->flush_bytes(), 0);
  int prepared = 0;
  Subject subject;
  subject.prepare = [&] {
    ++prepared;
    spin_us(20000);
  };
  subject.run = [] { spin_us(2000); };
  double least = 1e9;  // of several, for a busy machine can only lengthen them
  for (int i = 0; i < 5; ++i) least = std::min(least, clock->sample_us(subject));
  EXPECT_EQ(prepared, 5);
  EXPECT_GE(least, 2000);
  EXPECT_LT(least, 20000);
  EXPECT_GE(clock->overhead_us(), 0);
  EXPECT_LT(clock->overhead_us(), 50);
}

TEST(Clock, RefusesOtherDevices) {
  EXPECT_THROW(make_clock(c10::Device(c10::DeviceType::Meta)), c10::Error);
}

TEST(TimeImplementations, TwiceTheWorkIsHalfTheSpeed) {
  const auto clock = warm_clock();
  const Comparison comparison = time_implementations(
      *clock, "op/rows=1", Pass::kForward, {spinning("fused", 300), spinning("eager", 600)},
      "eager", TimingLimits::for_device(kCpu));
  const ImplementationTime& fused = comparison["fused"];
  const ImplementationTime& eager = comparison["eager"];
  EXPECT_EQ(fused.benchmark, "op/rows=1/fused/forward");
  EXPECT_NEAR(fused.us.min, 300, 30);
  EXPECT_NEAR(eager.us.min, 600, 60);
  EXPECT_NEAR(fused.speedup.estimate, 2.0, 0.1);
  EXPECT_LE(fused.speedup.low, 2.0 + 5e-3);
  EXPECT_GE(fused.speedup.high, 2.0 - 5e-3);
  EXPECT_LE(fused.speedup.low, fused.speedup.estimate);
  EXPECT_GE(fused.speedup.high, fused.speedup.estimate);
  EXPECT_DOUBLE_EQ(eager.speedup.estimate, 1.0);
  EXPECT_EQ(fused.rounds_us.size(), 16u);  // an even number: ABBA
  EXPECT_EQ(static_cast<int64_t>(fused.samples_us.size()), fused.us.count);
  EXPECT_LE(fused.us.min, fused.us.p10);
  EXPECT_LE(fused.us.p10, fused.us.median);
  EXPECT_LE(fused.us.median, fused.us.p90);
  EXPECT_THROW(comparison["other"], std::out_of_range);
}

TEST(TimeImplementations, RoundsAlternateTheirOrder) {
  std::string order;
  const auto tell = [&order](char letter) {
    return Timed{std::string(1, letter), nullptr, [&order, letter] { order += letter; }, nullptr};
  };
  TimingLimits limits = TimingLimits::for_device(kCpu);
  limits.max_samples_per_round = 1;
  limits.max_rounds = 4;
  time_implementations(*warm_clock(), "op", Pass::kForward, {tell('a'), tell('b'), tell('c')}, "",
                       limits);
  ASSERT_GE(order.size(), 12u);
  EXPECT_EQ(order.substr(order.size() - 12), "abccbaabccba");
}

// Time passes as the closures say, so that what follows from the samples can be checked to the
// digit.
class ScriptedClock final : public Clock {
 public:
  double sample_us(Subject& subject) override {
    if (subject.prepare) subject.prepare();
    const double start = now_us;
    subject.run();
    return now_us - start;
  }
  double overhead_us() override { return 0.25; }
  c10::Device device() const override { return kCpu; }
  int64_t flush_bytes() const override { return 0; }

  double now_us = 0;
};

// A machine that slows down for both of a pair: the times are all over the place, the ratio is not.
TEST(TimeImplementations, DisturbancesOfARoundCancelInTheRatio) {
  ScriptedClock clock;
  int calls = 0;
  const auto takes = [&](double us) {
    return [&clock, &calls, us] { clock.now_us += us * (1 + calls++ / 2 % 5); };
  };
  TimingLimits limits;
  limits.max_samples_per_round = 1;
  limits.max_rounds = 20;
  limits.warm_up.min_calls = 0;
  limits.warm_up.block = 1;
  limits.warm_up.max_seconds = 0;
  const Comparison comparison = time_implementations(
      clock, "op", Pass::kStep,
      {{"fused", nullptr, takes(1e4), nullptr}, {"eager", nullptr, takes(2.5e4), nullptr}}, "eager",
      limits);
  EXPECT_NEAR(comparison["fused"].speedup.estimate, 2.5, 1e-9);
  EXPECT_NEAR(comparison["fused"].speedup.low, 2.5, 1e-9);
  EXPECT_NEAR(comparison["fused"].speedup.high, 2.5, 1e-9);
  EXPECT_TRUE(comparison["fused"].noisy);
  EXPECT_EQ(comparison["fused"].us.min, 1e4);
  EXPECT_EQ(comparison.overhead_us, 0.25);
}

TEST(TimeImplementations, AnUnsteadyTimeIsNoisyAndASteadyOneIsNot) {
  ScriptedClock clock;
  int call = 0;
  // Fractions that never repeat, spread evenly.
  const auto fraction = [&call] { return std::fmod(++call * 0.618034, 1.0); };
  const Closure unsteady = [&] { clock.now_us += 6000 + 3000 * fraction(); };
  const Closure steady = [&] { clock.now_us += 6000 + 3 * fraction(); };
  TimingLimits limits;
  limits.max_seconds = 0.1;
  limits.min_seconds = 0;
  limits.warm_up.max_seconds = 0;
  const Comparison both = time_implementations(
      clock, "op", Pass::kForward,
      {{"unsteady", nullptr, unsteady, nullptr}, {"steady", nullptr, steady, nullptr}}, "", limits);
  EXPECT_TRUE(both["unsteady"].noisy) << both["unsteady"].noise;
  EXPECT_FALSE(both["steady"].noisy) << both["steady"].noise;
  EXPECT_GT(both["unsteady"].rounds_us.size(), 10u);  // went on for its sake

  // Alone, the steady one stops at the least number of rounds.
  const Comparison alone = time_implementations(clock, "op", Pass::kForward,
                                                {{"steady", nullptr, steady, nullptr}}, "", limits);
  EXPECT_EQ(alone["steady"].rounds_us.size(), 10u);

  // Too few rounds are noisy, however narrow.
  limits.max_rounds = 4;
  const Comparison few = time_implementations(clock, "op", Pass::kForward,
                                              {{"steady", nullptr, steady, nullptr}}, "", limits);
  EXPECT_TRUE(few["steady"].noisy);
}

TEST(TimeImplementations, PrintsNothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  time_implementations(*warm_clock(), "op", Pass::kForward, {spinning("a", 1)}, "a",
                       TimingLimits::for_device(kCpu));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(TimeImplementations, WhatAnImplementationThrowsComesOut) {
  int calls = 0;
  // Past the warm-up, so from within Google Benchmark.
  Timed fails{"fails", nullptr,
              [&calls] {
                if (++calls == 30) throw std::runtime_error("thirtieth");
              },
              nullptr};
  const auto clock = warm_clock();
  TimingLimits limits = TimingLimits::for_device(kCpu);
  limits.warm_up.max_seconds = 0;
  EXPECT_THROW(time_implementations(*clock, "op", Pass::kForward, {std::move(fails)}, "", limits),
               std::runtime_error);
  EXPECT_NO_THROW(
      time_implementations(*clock, "op", Pass::kForward, {spinning("a", 1)}, "", limits));
}

TEST(TimeImplementations, RefusesNamesThatDoNotFit) {
  const auto clock = warm_clock();
  const TimingLimits limits = TimingLimits::for_device(kCpu);
  EXPECT_THROW(time_implementations(*clock, "op", Pass::kStep, {}, "", limits),
               std::invalid_argument);
  EXPECT_THROW(time_implementations(*clock, "op", Pass::kStep, {spinning("a", 1)}, "b", limits),
               std::invalid_argument);
  EXPECT_THROW(time_implementations(*clock, "op", Pass::kStep, {spinning("a", 1), spinning("a", 1)},
                                    "a", limits),
               std::invalid_argument);
}

TEST(TimedPass, EachPassRunsItsPartWithGradientsOn) {
  std::string calls;
  const ForwardFn forward = [&calls]() -> std::vector<at::Tensor> {
    calls += c10::GradMode::is_enabled() ? 'F' : 'f';
    return {};
  };
  const BackwardFn backward = [&calls](const std::vector<at::Tensor>&) -> std::vector<at::Tensor> {
    calls += c10::GradMode::is_enabled() ? 'B' : 'b';
    return {};
  };
  const c10::AutoGradMode off(false);
  const auto trace = [&](Pass pass) {
    Timed timed = timed_pass("fused", pass, forward, backward);
    calls.clear();
    timed.prepare();
    calls += '|';
    timed.run();
    timed.release();
    return calls;
  };
  EXPECT_EQ(trace(Pass::kForward), "|F");
  EXPECT_EQ(trace(Pass::kBackward), "F|B");
  EXPECT_EQ(trace(Pass::kStep), "|FB");
}

}  // namespace
}  // namespace tigon::harness
