#include "harness/record/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace tigon::harness {
namespace {

TEST(Utf8, WellFormedTextStaysAsItIs) {
  for (const char* text : {"", "plain", "µs · 2×", "…", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD"}) {
    EXPECT_EQ(valid_utf8(text), text);
  }
  EXPECT_EQ(valid_utf8(std::string(1, '\0')), std::string(1, '\0'));
}

TEST(Utf8, BadBytesBecomeQuestionMarks) {
  EXPECT_EQ(valid_utf8("a\xFFz"), "a?z");
  EXPECT_EQ(valid_utf8("\x80"), "?");
  EXPECT_EQ(valid_utf8("\xC3"), "?");                 // cut off
  EXPECT_EQ(valid_utf8("\xE2\x82"), "??");            // cut off
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "??");            // overlong '/'
  EXPECT_EQ(valid_utf8("\xE0\x9F\xBF"), "???");       // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "???");       // surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(valid_utf8("\xC3\xA9\xC3x"), "\xC3\xA9?x");
}

}  // namespace
}  // namespace tigon::harness
