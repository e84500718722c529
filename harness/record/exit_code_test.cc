#include "harness/record/exit_code.h"

#include <gtest/gtest.h>

#include <vector>

namespace tigon::harness {
namespace {

TEST(ExitCode, ValuesAreThoseOfTheDocumentation) {
  EXPECT_EQ(static_cast<int>(ExitCode::kFine), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::kSlower), 10);
  EXPECT_EQ(static_cast<int>(ExitCode::kWrong), 11);
  EXPECT_EQ(static_cast<int>(ExitCode::kNotMeasured), 12);
  EXPECT_EQ(static_cast<int>(ExitCode::kUsage), 13);
}

TEST(ExitCode, WorstIsUsageThenWrongThenNotMeasuredThenSlower) {
  const std::vector<ExitCode> order = {ExitCode::kUsage, ExitCode::kWrong, ExitCode::kNotMeasured,
                                       ExitCode::kSlower, ExitCode::kFine};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i; j < order.size(); ++j) {
      EXPECT_EQ(worst(order[i], order[j]), order[i]);
      EXPECT_EQ(worst(order[j], order[i]), order[i]);
    }
  }
  EXPECT_EQ(worst({}), ExitCode::kFine);
  EXPECT_EQ(worst({ExitCode::kSlower, ExitCode::kWrong, ExitCode::kNotMeasured}), ExitCode::kWrong);
}

}  // namespace
}  // namespace tigon::harness
