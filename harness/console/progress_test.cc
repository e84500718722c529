#include "harness/console/progress.h"

#include <gtest/gtest.h>

#include <sstream>

#include "harness/console/terminal.h"

namespace tigon::harness {
namespace {

class ProgressTest : public testing::Test {
 protected:
  ProgressOptions options(bool terminal, int width = 100) {
    return {.terminal = terminal, .width = width, .now = [this] { return clock_; }};
  }
  // What was written since the last call.
  std::string written() {
    std::string result = out_.str();
    out_.str("");
    return result;
  }

  std::ostringstream out_;
  double clock_ = 1000;
};

TEST_F(ProgressTest, ALogHasOneLineAFinishedCase) {
  Progress progress(out_, 12, 12, options(false));
  progress.stage("op/rows=1/fp32/normal", "verify");
  progress.tick();
  EXPECT_EQ(written(), "");
  clock_ += 1;
  progress.finish("op/rows=1/fp32/normal", 1, "right 41%  31.2 us  5.2x");
  EXPECT_EQ(written(), "[ 1/12] 0:11 left  op/rows=1/fp32/normal  right 41%  31.2 us  5.2x\n");
  progress.note("worker restarted");
  EXPECT_EQ(written(), "worker restarted\n");
  progress.close();
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressTest, ATerminalHasOneLineRewrittenInPlace) {
  Progress progress(out_, 2, 90, options(true));
  progress.stage("op/rows=1/fp32/normal", "verify");
  EXPECT_EQ(written(), "\r\x1b[K[0/2] 0:00, about 1:30 left  op/rows=1/fp32/normal  verify");
  clock_ += 30;
  progress.tick();
  EXPECT_EQ(written(), "\r\x1b[K[0/2] 0:30, about 1:00 left  op/rows=1/fp32/normal  verify");
  clock_ += 15;
  progress.finish("op/rows=1/fp32/normal", 45, "right 41%");
  EXPECT_EQ(written(), "\r\x1b[K[1/2] 0:45, about 0:45 left  op/rows=1/fp32/normal  verify");
  progress.note("a warning");
  EXPECT_EQ(written(),
            "\r\x1b[Ka warning\n"
            "\r\x1b[K[1/2] 0:45, about 0:45 left  op/rows=1/fp32/normal  verify");
  progress.close();
  EXPECT_EQ(written(), "\r\x1b[K");
  progress.note("after");
  EXPECT_EQ(written(), "after\n");
}

TEST_F(ProgressTest, ALineNeverReachesTheLastColumn) {
  for (int width = 1; width < 80; ++width) {
    written();  // what closing the last one left
    Progress progress(out_, 2, 90, options(true, width));
    progress.stage("rms_norm/rows=8192/hidden=4096/bf16/normal", "verify");
    const std::string line = written().substr(4);  // without "\r\x1b[K"
    EXPECT_LE(display_width(line), static_cast<std::size_t>(std::max(1, width - 1))) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
  written();
  Progress progress(out_, 2, 90, options(true, 63));
  progress.stage("rms_norm/rows=8192/hidden=4096/bf16/normal", "verify");
  EXPECT_EQ(written(), "\r\x1b[K[0/2] 0:00, about 1:30 left  …/hidden=4096/bf16/normal  verify");
}

TEST_F(ProgressTest, TheEndLeavesNothingOnTheTerminal) {
  {
    Progress progress(out_, 1, 1, options(true));
    progress.stage("op", "time");
    written();
  }
  EXPECT_EQ(written(), "\r\x1b[K");
}

}  // namespace
}  // namespace tigon::harness
