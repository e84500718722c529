// exp and the conversions to and from 16-bit types, against double precision, in every build that
// this processor can run.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/core/cpu/capability.h"
#include "kernels/core/cpu/probe/simd_probe.h"

namespace tigon {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// A binary format with `precision` significant bits, smallest normal 2^min_exponent.
struct Format {
  int exponent_bits, fraction_bits;
  int precision() const { return fraction_bits + 1; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int min_exponent() const { return 1 - bias(); }
};
constexpr Format kBFloat16Format{8, 7};
constexpr Format kFloat16Format{5, 10};

double decode(Format format, uint16_t bits) {
  const int exponent = (bits >> format.fraction_bits) & ((1 << format.exponent_bits) - 1);
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == (1 << format.exponent_bits) - 1) return fraction ? kNan : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - format.bias() - format.fraction_bits);
  return sign * std::ldexp((1 << format.fraction_bits) + fraction,
                           exponent - format.bias() - format.fraction_bits);
}

// Round to nearest, ties to even.
double rounded(Format format, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), format.min_exponent());
  const int unit = exponent - format.precision() + 1;
  const double result = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  const double limit = std::ldexp(1.0, format.bias() + 1);
  return std::fabs(result) >= limit ? std::copysign(kInfinity, value) : result;
}

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// Every fp32 with these upper 16 bits in turn and, below them, the patterns where rounding to 8 or
// to 11 bits decides: ties, their neighbours, and runs of ones.
std::vector<float> floats_near_rounding_boundaries() {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (uint32_t lower : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x3001u,
                           0x7fffu, 0x8000u, 0x8001u, 0xefffu, 0xf000u, 0xf001u, 0xffffu}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  return values;
}

class SimdTest : public testing::TestWithParam<CpuCapability> {
 protected:
  void SetUp() override {
    if (!cpu_supports(GetParam())) {
      GTEST_SKIP() << "this processor lacks " << cpu_capability_name(GetParam());
    }
  }

  const SimdProbe& probe() const {
    return GetParam() == CpuCapability::kAvx512 ? cpu_avx512::kSimdProbe
           : GetParam() == CpuCapability::kAvx2 ? cpu_avx2::kSimdProbe
                                                : cpu_default::kSimdProbe;
  }

  void check_load(Format format, void (*load)(const uint16_t*, float*, int64_t)) {
    std::vector<uint16_t> bits(0x10000);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    std::vector<float> values(bits.size());
    load(bits.data(), values.data(), static_cast<int64_t>(bits.size()));
    for (size_t i = 0; i < bits.size(); ++i) {
      ASSERT_TRUE(same(values[i], decode(format, bits[i]))) << "bits " << i << ": " << values[i];
    }
  }

  void check_store(Format format, void (*store)(const float*, uint16_t*, int64_t),
                   void (*round)(const float*, float*, int64_t)) {
    const std::vector<float> values = floats_near_rounding_boundaries();
    const auto count = static_cast<int64_t>(values.size());
    std::vector<uint16_t> stored(values.size());
    std::vector<float> in_place(values.size());
    store(values.data(), stored.data(), count);
    round(values.data(), in_place.data(), count);
    for (size_t i = 0; i < values.size(); ++i) {
      const double wanted = rounded(format, values[i]);
      ASSERT_TRUE(same(decode(format, stored[i]), wanted))
          << std::hexfloat << values[i] << " gave " << decode(format, stored[i]);
      ASSERT_TRUE(same(in_place[i], wanted)) << std::hexfloat << values[i];
    }
  }

  // The largest error of got against exact in units of the last place of fp32 (2^-149 at least).
  static double worst_ulps(const std::vector<float>& got, const std::vector<double>& exact) {
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const int exponent = exact[i] == 0 ? -126 : std::max(std::ilogb(exact[i]), -126);
      worst = std::max(worst, std::fabs(got[i] - exact[i]) / std::ldexp(1.0, exponent - 23));
    }
    return worst;
  }
};

TEST_P(SimdTest, LoadsEveryBFloat16) { check_load(kBFloat16Format, probe().load_bfloat16); }

TEST_P(SimdTest, LoadsEveryFloat16) { check_load(kFloat16Format, probe().load_float16); }

TEST_P(SimdTest, RoundsToBFloat16) {
  check_store(kBFloat16Format, probe().store_bfloat16, probe().round_bfloat16);
}

TEST_P(SimdTest, RoundsToFloat16) {
  check_store(kFloat16Format, probe().store_float16, probe().round_float16);
}

TEST_P(SimdTest, ExpMeetsItsBound) {
  std::vector<float> x;
  for (int i = 0; i <= 2000000; ++i) x.push_back(-104.0f + 192.72f * static_cast<float>(i) / 2e6f);
  for (int i = -149; i < 0; ++i) {
    x.push_back(std::ldexp(1.0f, i));
    x.push_back(-std::ldexp(1.0f, i));
  }
  std::vector<float> y(x.size());
  std::vector<double> exact(x.size());
  for (size_t i = 0; i < x.size(); ++i) exact[i] = std::exp(static_cast<double>(x[i]));
  probe().exp(x.data(), y.data(), static_cast<int64_t>(x.size()));
  EXPECT_LE(worst_ulps(y, exact), GetParam() == CpuCapability::kDefault ? 1.2 : 1.0);
}

TEST_P(SimdTest, ExpAtItsLimits) {
  const std::vector<float> x = {0.0f,   -0.0f,     1.0f,       88.0f,   88.7f,   88.73f,  89.0f,
                                1e30f,  -87.0f,    -88.0f,     -100.0f, -103.0f, -104.0f, -105.0f,
                                -1e30f, kInfinity, -kInfinity, kNan,    -kNan};
  std::vector<float> y(x.size());
  probe().exp(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto exact = static_cast<float>(std::exp(static_cast<double>(x[i])));
    if (std::isfinite(exact) && exact != 0) {
      EXPECT_NEAR(y[i], exact, std::max(exact * 1.2e-7, 1.5e-45)) << x[i];
    } else {
      EXPECT_TRUE(same(y[i], exact)) << x[i] << " gave " << y[i];
    }
  }
}

TEST_P(SimdTest, LogisticAndItsComplement) {
  std::vector<float> x;
  for (int i = 0; i <= 1000000; ++i) x.push_back(-104.0f + 208.0f * static_cast<float>(i) / 1e6f);
  std::vector<float> s(x.size()), complement(x.size());
  std::vector<double> exact_s(x.size()), exact_complement(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    exact_s[i] = 1 / (1 + std::exp(-static_cast<double>(x[i])));
    exact_complement[i] = 1 / (1 + std::exp(static_cast<double>(x[i])));
  }
  probe().logistic(x.data(), s.data(), complement.data(), static_cast<int64_t>(x.size()));
  EXPECT_LE(worst_ulps(s, exact_s), 3.0);
  EXPECT_LE(worst_ulps(complement, exact_complement), 3.0);
}

TEST_P(SimdTest, LogisticAtItsLimits) {
  const std::vector<float> x = {0.0f, 1e30f, -1e30f, kInfinity, -kInfinity, kNan};
  const std::vector<float> wanted = {0.5f, 1.0f, 0.0f, 1.0f, 0.0f, kNan};
  std::vector<float> s(x.size()), complement(x.size());
  probe().logistic(x.data(), s.data(), complement.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(same(s[i], wanted[i])) << x[i] << " gave " << s[i];
    EXPECT_TRUE(same(complement[i], 1 - wanted[i])) << x[i] << " gave " << complement[i];
  }
}

// Tails: nothing beyond the count is read into the sum or written.
TEST_P(SimdTest, EveryCountReadsAndWritesItsElementsAlone) {
  for (int64_t count = 0; count <= 150; ++count) {
    std::vector<float> x(count + 32, 1e6f), y(count + 32, 7.0f);
    std::vector<uint16_t> bits(count + 32, 0x1234);
    for (int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(i + 1);
    EXPECT_EQ(probe().sum(x.data(), count),
              static_cast<float>(count) * static_cast<float>(count + 1) / 2);
    probe().round_bfloat16(x.data(), y.data(), count);
    probe().store_float16(x.data(), bits.data(), count);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(y[i], x[i]);
      EXPECT_EQ(decode(kFloat16Format, bits[i]), x[i]);
    }
    for (int64_t i = count; i < count + 32; ++i) {
      EXPECT_EQ(y[i], 7.0f);
      EXPECT_EQ(bits[i], 0x1234);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EachCapability, SimdTest,
                         testing::Values(CpuCapability::kDefault, CpuCapability::kAvx2,
                                         CpuCapability::kAvx512),
                         [](const testing::TestParamInfo<CpuCapability>& param) {
                           return std::string(cpu_capability_name(param.param));
                         });

}  // namespace
}  // namespace tigon
