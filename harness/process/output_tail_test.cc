#include "harness/process/output_tail.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tigon::harness {
namespace {

TEST(OutputTail, KeepsShortTextAsItIs) {
  OutputTail tail;
  EXPECT_EQ(tail.text(), "");
  tail.append("first\nsec");
  tail.append("ond\tx\n");
  EXPECT_EQ(tail.text(), "first\nsecond\tx");
  tail.clear();
  EXPECT_EQ(tail.text(), "");
}

TEST(OutputTail, KeepsTheLastLines) {
  OutputTail tail;
  for (int i = 0; i < 100; ++i) tail.append(std::to_string(i) + "\n");
  const std::string text = tail.text();
  EXPECT_EQ(text.substr(0, 3), "80\n");
  EXPECT_EQ(text.substr(text.size() - 3), "\n99");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 19);
}

TEST(OutputTail, BoundsLongLines) {
  OutputTail tail;
  tail.append(std::string(1 << 20, 'a'));
  tail.append("the end");
  EXPECT_EQ(tail.text().size(), OutputTail::kMaxBytes);
  EXPECT_EQ(tail.text().substr(OutputTail::kMaxBytes - 8), "athe end");
}

TEST(OutputTail, ShowsControlBytesHarmlessly) {
  OutputTail tail;
  tail.append(std::string_view("a\0b\x1b[31mred\r\n", 13));
  EXPECT_EQ(tail.text(), "a?b?[31mred?");
}

}  // namespace
}  // namespace tigon::harness
