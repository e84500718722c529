#include "harness/console/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace tigon::harness {
namespace {

// A terminal of 77 columns.
class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    winsize size{};
    size.ws_col = 77;
    size.ws_row = 24;
    main_ = ::posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(main_, 0);
    ASSERT_EQ(::grantpt(main_), 0);
    ASSERT_EQ(::unlockpt(main_), 0);
    terminal_ = ::open(::ptsname(main_), O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal_, 0);
    ASSERT_EQ(::ioctl(terminal_, TIOCSWINSZ, &size), 0);
    file_ = ::open("/dev/null", O_WRONLY);
  }
  void TearDown() override {
    for (int descriptor : {main_, terminal_, file_}) ::close(descriptor);
    unsetenv("NO_COLOR");
  }

  int main_ = -1;
  int terminal_ = -1;
  int file_ = -1;
};

TEST_F(TerminalTest, TellsATerminalFromAFile) {
  EXPECT_TRUE(is_terminal(terminal_));
  EXPECT_FALSE(is_terminal(file_));
  EXPECT_EQ(terminal_width(terminal_), 77);
  EXPECT_EQ(terminal_width(file_, 55), 55);
}

TEST_F(TerminalTest, ColoursOnATerminalAlone) {
  EXPECT_TRUE(wants_colour(terminal_));
  EXPECT_FALSE(wants_colour(file_));
}

TEST_F(TerminalTest, NoColorIsHonoured) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_colour(terminal_));
  setenv("NO_COLOR", "", 1);  // empty counts as not set
  EXPECT_TRUE(wants_colour(terminal_));
}

TEST_F(TerminalTest, DumbTerminalsGetNoColour) {
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(wants_colour(terminal_));
}

TEST(Text, WidthCountsCodePoints) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("µs × 2…"), 7u);
}

TEST(Text, PadsByWidthAndNotByBytes) {
  EXPECT_EQ(pad_right("µs", 4), "µs  ");
  EXPECT_EQ(pad_left("µs", 4), "  µs");
  EXPECT_EQ(pad_left("long", 2), "long");
}

TEST(Text, ShortensBetweenCodePoints) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdef", 4), "abc…");
  EXPECT_EQ(shorten("µµµµ", 3), "µµ…");
  EXPECT_EQ(shorten("abc", 1), "…");
  EXPECT_EQ(shorten("abc", 0), "");
  EXPECT_EQ(shorten_front("abcdef", 4), "…def");
  EXPECT_EQ(shorten_front("µµµµ", 3), "…µµ");
  EXPECT_EQ(shorten_front("abc", 3), "abc");
}

TEST(Text, PaintsWhenEnabledOnly) {
  EXPECT_EQ(paint("right", Colour::kGreen, true), "\x1b[32mright\x1b[0m");
  EXPECT_EQ(paint("right", Colour::kGreen, false), "right");
  EXPECT_EQ(paint("right", Colour::kNone, true), "right");
  EXPECT_EQ(paint("", Colour::kRed, true), "");
}

}  // namespace
}  // namespace tigon::harness
