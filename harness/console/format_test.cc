#include "harness/console/format.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tigon::harness {
namespace {

TEST(Format, TimeHasThreeDigitsAndAUnit) {
  EXPECT_EQ(format_time_us(0), "0.000 us");
  EXPECT_EQ(format_time_us(0.8416), "0.842 us");
  EXPECT_EQ(format_time_us(0.9996), "1.00 us");
  EXPECT_EQ(format_time_us(9.994), "9.99 us");
  EXPECT_EQ(format_time_us(9.996), "10.0 us");
  EXPECT_EQ(format_time_us(31.24), "31.2 us");
  EXPECT_EQ(format_time_us(99.96), "100 us");
  EXPECT_EQ(format_time_us(999.4), "999 us");
  EXPECT_EQ(format_time_us(999.6), "1.00 ms");
  EXPECT_EQ(format_time_us(4071), "4.07 ms");
  EXPECT_EQ(format_time_us(999600), "1.00 s");
  EXPECT_EQ(format_time_us(1.25e8), "125 s");
  EXPECT_EQ(format_time_us(INFINITY), "inf");
}

TEST(Format, ShareIsWholePercentAboveOne) {
  EXPECT_EQ(format_share(0), "0%");
  EXPECT_EQ(format_share(0.004), "0.4%");
  EXPECT_EQ(format_share(0.0096), "1%");
  EXPECT_EQ(format_share(0.914), "91%");
  EXPECT_EQ(format_share(3.12), "312%");
}

TEST(Format, RatioShowsTheSecondDecimalAroundOne) {
  EXPECT_EQ(format_ratio(0.254), "0.25x");
  EXPECT_EQ(format_ratio(0.97), "0.97x");
  EXPECT_EQ(format_ratio(1.04), "1.04x");
  EXPECT_EQ(format_ratio(1.996), "2.0x");
  EXPECT_EQ(format_ratio(5.2134), "5.2x");
  EXPECT_EQ(format_ratio(9.96), "10x");
  EXPECT_EQ(format_ratio(123.4), "123x");
}

TEST(Format, Duration) {
  EXPECT_EQ(format_duration(-1), "0:00");
  EXPECT_EQ(format_duration(6.6), "0:07");
  EXPECT_EQ(format_duration(59.6), "1:00");
  EXPECT_EQ(format_duration(245), "4:05");
  EXPECT_EQ(format_duration(3723), "1:02:03");
}

}  // namespace
}  // namespace tigon::harness
