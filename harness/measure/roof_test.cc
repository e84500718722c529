#include "harness/measure/roof.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "harness/measure/streaming.h"

namespace tigon::harness {
namespace {

const c10::Device kCpu(c10::DeviceType::CPU);

TEST(Streaming, NearestMix) {
  const auto is = [](StreamMix mix, int reads, int writes) {
    return mix.reads == reads && mix.writes == writes;
  };
  EXPECT_TRUE(is(nearest_mix(1000, 1000), 1, 1));
  EXPECT_TRUE(is(nearest_mix(2000, 1001), 2, 1));
  EXPECT_TRUE(is(nearest_mix(300, 200), 3, 2));
  EXPECT_TRUE(is(nearest_mix(5, 0), 1, 0));
  EXPECT_TRUE(is(nearest_mix(0, 5), 0, 1));
}

// Every vector of every array that is written comes from all arrays that are read, whatever the
// number of vectors: a kernel that skips a tail would make the roof too high.
TEST(Streaming, CpuWritesEveryVector) {
  constexpr int64_t kVectors = 9001;
  for (const StreamMix& mix : kStreamMixes) {
    for (int variant = 0; variant < kCpuStreamVariants; ++variant) {
      struct alignas(16) Vector {
        uint64_t lanes[2];
      };
      std::vector<Vector> source(static_cast<size_t>(mix.reads * kVectors));
      std::vector<Vector> destination(static_cast<size_t>(mix.writes * kVectors) + 1,
                                      Vector{{7, 7}});
      for (size_t i = 0; i < source.size(); ++i) source[i] = {{i * 977, i * 31 + 5}};
      stream_cpu({mix, source.data(), destination.data(), kVectors}, variant);
      for (int64_t i = 0; i < kVectors; ++i) {
        Vector want{{1, 2}};
        for (int r = 0; r < mix.reads; ++r) {
          want.lanes[0] ^= source[static_cast<size_t>(r * kVectors + i)].lanes[0];
          want.lanes[1] ^= source[static_cast<size_t>(r * kVectors + i)].lanes[1];
        }
        for (int w = 0; w < mix.writes; ++w) {
          const Vector& got = destination[static_cast<size_t>(w * kVectors + i)];
          ASSERT_EQ(std::memcmp(&got, &want, sizeof got), 0)
              << mix.reads << ':' << mix.writes << " variant " << variant << " vector " << i;
        }
      }
      EXPECT_EQ(destination.back().lanes[0], 7u) << "wrote past the end";
    }
  }
  EXPECT_THROW(stream_cpu({{7, 7}, nullptr, nullptr, 0}, 0), std::invalid_argument);
  EXPECT_THROW(stream_cpu({{1, 1}, nullptr, nullptr, 0}, kCpuStreamVariants),
               std::invalid_argument);
}

class CpuRoof : public ::testing::Test {
 protected:
  // A small flush: the sizes below are well beyond what it leaves in any cache that matters here.
  std::unique_ptr<Clock> clock_ = make_clock(kCpu, {.flush_bytes = int64_t{32} << 20});
  Roof roof_{*clock_};
};

TEST_F(CpuRoof, MoreBytesTakeLonger) {
  const double small = roof_.memory_us(1 << 20, 1 << 20);
  const double large = roof_.memory_us(16 << 20, 16 << 20);
  EXPECT_GT(small, 0);
  EXPECT_GT(large, 2 * small);
  // No memory of today moves a terabyte a second through a CPU, none less than 100 MB/s.
  EXPECT_GT(large, 32.0);
  EXPECT_LT(large, 330000.0);
  EXPECT_EQ(roof_.memory_us(0, 0), 0);
  EXPECT_THROW(roof_.memory_us(-1, 0), c10::Error);
}

TEST_F(CpuRoof, IsMeasuredOnceForASizeAndMix) {
  const double first = roof_.memory_us(4 << 20, 2 << 20);
  EXPECT_EQ(roof_.memory_us(4 << 20, 2 << 20), first);
  EXPECT_EQ(roof_.measurements().size(), 1u);
  roof_.memory_us((4 << 20) + 64, 2 << 20);
  EXPECT_EQ(roof_.measurements().size(), 1u);
  roof_.memory_us(2 << 20, 4 << 20);
  ASSERT_EQ(roof_.measurements().size(), 2u);
  EXPECT_FALSE(roof_.measurements()[0].way.empty());
}

TEST_F(CpuRoof, IsTheLargerOfMemoryAndArithmetic) {
  const double rate = roof_.flops_per_second(at::kFloat);
  EXPECT_GT(rate, 1e8);
  EXPECT_LT(rate, 1e15);
  PassCost cost{1 << 20, 1 << 20, 0};
  const double memory = roof_.time_us(cost, at::kFloat);
  cost.flops = 1;
  EXPECT_DOUBLE_EQ(roof_.time_us(cost, at::kFloat), memory);
  cost.flops = static_cast<int64_t>(rate);  // a second's worth
  EXPECT_NEAR(roof_.time_us(cost, at::kFloat), 1e6, 1);
}

// Whatever runs takes a millisecond.
class MillisecondClock final : public Clock {
 public:
  double sample_us(Subject& subject) override {
    subject.run();
    return 1000;
  }
  double overhead_us() override { return 0; }
  c10::Device device() const override { return kCpu; }
  int64_t flush_bytes() const override { return 0; }
};

TEST(RoofTest, IsMeasuredAgainWhenForgotten) {
  MillisecondClock clock;
  Roof roof(clock);
  const PassCost cost{1 << 20, 1 << 20, 0};
  EXPECT_NEAR(roof.time_us(cost, at::kFloat), 1000, 1e-6);  // a size that rounding leaves alone
  EXPECT_EQ(roof.measurements().size(), 1u);
  roof.forget(cost, at::kFloat);
  EXPECT_TRUE(roof.measurements().empty());
}

TEST(RoofTest, ATimeBeatsItAbove110Percent) {
  EXPECT_FALSE(beats_roof(100, 100));
  EXPECT_FALSE(beats_roof(100, 109.9));
  EXPECT_TRUE(beats_roof(100, 110.1));
}

}  // namespace
}  // namespace tigon::harness
