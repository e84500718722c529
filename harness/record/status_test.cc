#include "harness/record/status.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string_view>

namespace tigon::harness {
namespace {

TEST(Status, TextGoesBothWays) {
  std::set<std::string_view> texts;
  for (Status status : kAllStatuses) {
    EXPECT_EQ(parse_status(to_string(status)), status);
    texts.insert(to_string(status));
  }
  EXPECT_EQ(texts, (std::set<std::string_view>{"ok", "wrong", "crash", "timeout", "oom", "invalid",
                                               "noisy", "error", "skipped"}));
}

TEST(Status, UnknownTextIsAnError) {
  try {
    parse_status("wrogn");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "unknown status \"wrogn\": did you mean \"wrong\"? Known: ok, skipped, noisy, "
                 "invalid, oom, timeout, crash, error, wrong");
  }
}

TEST(Status, ExitCodes) {
  for (Status status : {Status::kOk, Status::kSkipped, Status::kNoisy}) {
    EXPECT_EQ(exit_code(status), ExitCode::kFine);
    EXPECT_TRUE(is_fine(status));
  }
  for (Status status :
       {Status::kCrash, Status::kTimeout, Status::kOom, Status::kInvalid, Status::kError}) {
    EXPECT_EQ(exit_code(status), ExitCode::kNotMeasured);
    EXPECT_FALSE(is_fine(status));
  }
  EXPECT_EQ(exit_code(Status::kWrong), ExitCode::kWrong);
}

// The status that stands for several rows never hides a worse exit code.
TEST(Status, PrecedenceAgreesWithExitCodes) {
  for (Status a : kAllStatuses) {
    for (Status b : kAllStatuses) {
      EXPECT_EQ(exit_code(worst(a, b)), worst(exit_code(a), exit_code(b)));
      EXPECT_EQ(worst(a, b), worst(b, a));
    }
  }
  EXPECT_EQ(worst(Status::kOk, Status::kNoisy), Status::kNoisy);
}

}  // namespace
}  // namespace tigon::harness
