#include "harness/record/cell.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace tigon::harness {
namespace {

TEST(Cell, EveryDoubleReadsBackAsItself) {
  std::mt19937_64 engine(3);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::bit_cast<double>(engine());
    double back = 0;
    from_cell(to_cell(value), back);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(back));
    } else {
      EXPECT_EQ(std::bit_cast<uint64_t>(back), std::bit_cast<uint64_t>(value)) << to_cell(value);
    }
  }
}

TEST(Cell, DoublesAreWrittenShort) {
  EXPECT_EQ(to_cell(0.1), "0.1");
  EXPECT_EQ(to_cell(31.25), "31.25");
  EXPECT_EQ(to_cell(1e300), "1e+300");
  EXPECT_EQ(to_cell(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(to_cell(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(to_cell(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Cell, WholeNumbersKeepTheirEnds) {
  for (int64_t value : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    int64_t back = 0;
    from_cell(to_cell(value), back);
    EXPECT_EQ(back, value);
  }
  uint64_t back = 0;
  from_cell(to_cell(std::numeric_limits<uint64_t>::max()), back);
  EXPECT_EQ(back, std::numeric_limits<uint64_t>::max());
}

TEST(Cell, AbsentIsEmptyAndNotZero) {
  EXPECT_EQ(to_cell(std::optional<double>()), "");
  std::optional<double> value = 5;
  from_cell("", value);
  EXPECT_EQ(value, std::nullopt);
  from_cell("0", value);
  EXPECT_EQ(value, 0.0);
}

TEST(Cell, RefusesWhatIsNotANumberFromEndToEnd) {
  double real = 0;
  int64_t whole = 0;
  uint64_t natural = 0;
  for (const char* bad : {"", " 1", "1 ", "1.5x", "x", "1,5", "+1"}) {
    EXPECT_THROW(from_cell(bad, real), std::invalid_argument) << bad;
  }
  for (const char* bad : {"", "1.5", "1e3", "99999999999999999999"}) {
    EXPECT_THROW(from_cell(bad, whole), std::invalid_argument) << bad;
  }
  EXPECT_THROW(from_cell("-1", natural), std::invalid_argument);
}

}  // namespace
}  // namespace tigon::harness
