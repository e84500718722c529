#include "harness/sweep/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace tigon::harness {
namespace {

// Rounds to nearest even with `digits` significant bits, from the definition alone.
double round_to_digits(double value, int digits) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, digits)), exponent - digits);
}

int significant_bits(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 24;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat16:
      return 11;
  }
  return 0;
}

TEST(DType, TextGoesBothWays) {
  for (DType dtype : kAllDTypes) EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
  EXPECT_EQ(to_string(DType::kBFloat16), "bf16");
}

TEST(DType, UnknownTextNamesWhatIsKnown) {
  try {
    parse_dtype("bf17");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "unknown dtype \"bf17\": did you mean \"bf16\"? Known: fp32, bf16, fp16");
  }
}

TEST(DType, UnitRoundoffIsTheLargestErrorOfOneRounding) {
  for (DType dtype : kAllDTypes) {
    const double u = unit_roundoff(dtype);
    const int digits = significant_bits(dtype);
    // The midpoint between 1 and its successor is the worst case, and goes down to even.
    EXPECT_EQ(round_to_digits(1 + u, digits), 1.0);
    EXPECT_GT(round_to_digits(1 + u * 1.0001, digits), 1.0);
    for (int i = 0; i < 8130; ++i) {
      const double value = 1 + 0.000123 * i;
      EXPECT_LE(std::abs(round_to_digits(value, digits) - value) / value, u);
    }
  }
}

TEST(DType, LimitsAreThoseOfTheFormats) {
  EXPECT_EQ(unit_roundoff(DType::kFloat32), std::numeric_limits<float>::epsilon() / 2);
  EXPECT_EQ(smallest_normal(DType::kFloat32), std::numeric_limits<float>::min());
  EXPECT_EQ(largest_finite(DType::kFloat32), std::numeric_limits<float>::max());
  // The largest mantissa times the largest power of two.
  EXPECT_EQ(largest_finite(DType::kBFloat16), (2 - 0x1p-7) * 0x1p127);
  EXPECT_EQ(largest_finite(DType::kFloat16), (2 - 0x1p-10) * 0x1p15);
  EXPECT_EQ(smallest_normal(DType::kBFloat16), std::ldexp(1.0, -126));
  EXPECT_EQ(smallest_normal(DType::kFloat16), std::ldexp(1.0, -14));
  EXPECT_EQ(element_size(DType::kFloat32), 4);
  EXPECT_EQ(element_size(DType::kBFloat16), 2);
}

}  // namespace
}  // namespace tigon::harness
