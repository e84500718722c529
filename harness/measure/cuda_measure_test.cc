// The parts of the measurements that need a GPU, on one.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "harness/measure/clock.h"
#include "harness/measure/compare.h"
#include "harness/measure/host_time.h"
#include "harness/measure/memory.h"
#include "harness/measure/roof.h"
#include "harness/measure/streaming.h"
#include "harness/measure/synchronize.h"

namespace tigon::harness {
namespace {

class CudaMeasure : public ::testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no CUDA device";
  }
  static at::TensorOptions floats() { return at::TensorOptions().device(kCuda).dtype(at::kFloat); }
  inline static const c10::Device kCuda{c10::DeviceType::CUDA, 0};
};

TEST_F(CudaMeasure, MemoryIsExactAndOutlivesTheMeasurement) {
  const at::Tensor x = at::ones({1001}, floats()).requires_grad_(true);
  const at::Tensor upstream = at::ones({1001}, floats());
  at::Tensor kept;
  const MemoryUse use = measure_memory(
      kCuda,
      [&] {
        const at::Tensor scratch = at::empty({777}, floats());
        kept = at::exp(x);
        return std::vector<at::Tensor>{kept};
      },
      [&](const std::vector<at::Tensor>& outputs) {
        return torch::autograd::grad(outputs, {x}, {upstream});
      });
  EXPECT_EQ(use.workspace_bytes, 4 * 777);
  // `kept` still holds an output of the forward before while the next is made; both are counted
  // only within their own measurement.
  EXPECT_EQ(use.peak_bytes, 4 * 1001 * 2);
  EXPECT_EQ(use.saved_bytes, 4 * 1001);
  EXPECT_FLOAT_EQ(kept.detach().sum().item<float>(), 1001 * 2.7182818f);
}

TEST_F(CudaMeasure, BlocksOfTheCountingAllocatorKeepTheirStreams) {
  const auto side = c10::cuda::getStreamFromPool(false, 0);
  at::Tensor kept;
  measure_memory(
      kCuda,
      [&] {
        kept = at::ones({1 << 20}, floats());
        kept.record_stream(side);
        return std::vector<at::Tensor>{kept};
      },
      nullptr);
  kept.reset();
  synchronize(kCuda);
  EXPECT_NE(c10::cuda::CUDACachingAllocator::get()->name(), "");
}

TEST_F(CudaMeasure, SampleHoldsTheQueueAndLeavesTheHostOut) {
  const auto clock = make_clock(kCuda);
  EXPECT_GT(clock->flush_bytes(), 1 << 20);
  EXPECT_GT(clock->overhead_us(), 0);
  EXPECT_LT(clock->overhead_us(), 30);
  at::Tensor x = at::ones({1024}, floats());
  Subject slow_host;
  slow_host.run = [&x] {
    x.add_(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    x.add_(1);
  };
  warm_up(*clock, slow_host, {.max_seconds = 0.05});
  EXPECT_LT(clock->sample_us(slow_host), 200);  // two small kernels back to back, not 3 ms
  EXPECT_TRUE(slow_host.queue_full);
}

TEST_F(CudaMeasure, AClosureThatWaitsForTheDeviceIsTimedAndMarked) {
  const auto clock = make_clock(kCuda);
  at::Tensor x = at::ones({1024}, floats());
  Subject waits;
  waits.hold_ms = 1;
  waits.run = [&x] { x.add_(1).sum().item<float>(); };
  EXPECT_GT(clock->sample_us(waits), 0);
  EXPECT_FALSE(waits.queue_full);
  EXPECT_GT(waits.dropped, 1);
}

TEST_F(CudaMeasure, StreamsWriteEveryVector) {
  constexpr int64_t kVectors = 100003;
  for (const StreamMix& mix : kStreamMixes) {
    if (mix.writes == 0) continue;
    for (int variant = 0; variant < kCudaStreamVariants; ++variant) {
      const auto longs = at::TensorOptions().device(kCuda).dtype(at::kLong);
      const at::Tensor source = at::randint(1LL << 40, {mix.reads, kVectors, 2}, longs);
      at::Tensor got = at::empty({mix.writes, kVectors, 2}, longs).fill_(-1);
      Streams streams{mix, source.const_data_ptr(), got.mutable_data_ptr(), kVectors};
      ASSERT_EQ(stream_cuda(streams, variant, c10::cuda::getCurrentCUDAStream(0).stream()),
                cudaSuccess);
      // Vectors begin as the words (1, 2, 3, 4).
      at::Tensor want = at::empty({kVectors, 2}, longs);
      want.select(1, 0).fill_(1LL | (2LL << 32));
      want.select(1, 1).fill_(3LL | (4LL << 32));
      for (int r = 0; r < mix.reads; ++r) want = want.bitwise_xor(source[r]);
      for (int w = 0; w < mix.writes; ++w) {
        EXPECT_TRUE(got[w].equal(want)) << mix.reads << ':' << mix.writes << " variant " << variant;
      }
    }
  }
}

TEST_F(CudaMeasure, RoofIsThatOfADevice) {
  const auto clock = make_clock(kCuda);
  Roof roof(*clock);
  const double small = roof.memory_us(8 << 20, 8 << 20);
  const double large = roof.memory_us(256 << 20, 256 << 20);
  EXPECT_GT(small, 1);
  EXPECT_GT(large, 8 * small);
  EXPECT_GT(roof.flops_per_second(at::kBFloat16), 1e12);
  roof.memory_us(256 << 20, 128 << 20);
  roof.memory_us(192 << 20, 128 << 20);
  roof.memory_us(256 << 20, 0);
  roof.memory_us(64 << 20, 64 << 20);
  for (const RoofMeasurement& m : roof.measurements()) {
    std::cout << m.bytes << " bytes " << m.reads << ':' << m.writes << ' ' << m.dtype << " by "
              << m.way << ": " << m.per_second / 1e12 << " T/s\n";
  }
}

TEST_F(CudaMeasure, TwiceTheBytesTakeTwiceAsLong) {
  const auto clock = make_clock(kCuda);
  at::Tensor a = at::ones({64 << 20}, floats());
  at::Tensor b = at::ones({128 << 20}, floats());
  const Comparison comparison =
      time_implementations(*clock, "op", Pass::kForward,
                           {{"half", nullptr, [&a] { a.add_(1); }, nullptr},
                            {"whole", nullptr, [&b] { b.add_(1); }, nullptr}},
                           "whole", TimingLimits::for_device(kCuda));
  EXPECT_NEAR(comparison["half"].speedup.estimate, 2.0, 0.1);
  EXPECT_FALSE(comparison["half"].noisy) << comparison["half"].noise;
  EXPECT_TRUE(comparison["half"].queue_full);
  std::cout << "half " << comparison["half"].us.median << " us, noise " << comparison["half"].noise
            << ", " << comparison["half"].us.count << " samples, overhead "
            << comparison.overhead_us << " us, " << comparison.seconds << " s\n";
}

TEST_F(CudaMeasure, HostTimeLeavesTheDeviceOut) {
  at::Tensor large = at::ones({512 << 20}, floats());
  const at::Tensor x = at::ones({8, 16}, floats());
  const at::Tensor w = at::ones({16}, floats());
  // Most of a millisecond on any device of today, microseconds on the host.
  const HostTime time = measure_host_time([&large] { large.add_(1); }, x, w);
  EXPECT_GT(time.step_us, 0.5);
  EXPECT_LT(time.step_us, 200);
  EXPECT_GT(time.multiply_us, 1);
}

}  // namespace
}  // namespace tigon::harness
