#include "harness/console/grid.h"

#include <gtest/gtest.h>

namespace tigon::harness {
namespace {

TEST(Grid, AlignsByDisplayWidth) {
  Grid grid({Align::kLeft, Align::kRight});
  grid.add({{"name"}, {"time"}});
  grid.add({{"µ"}, {"1.5 µs"}});
  EXPECT_EQ(grid.render(2, false),
            "  name    time\n"
            "  µ     1.5 µs\n");
}

TEST(Grid, ShortRowsRunOnWithoutWideningAColumn) {
  Grid grid({Align::kLeft, Align::kLeft, Align::kRight});
  grid.add({{"a"}, {"b"}, {"c"}});
  grid.add({{"long name"}, {"a text that runs on"}});
  EXPECT_EQ(grid.render(0, false),
            "a          b  c\n"
            "long name  a text that runs on\n");
}

TEST(Grid, NoSpacesAtTheEnd) {
  Grid grid({Align::kLeft, Align::kLeft});
  grid.add({{"a"}, {""}});
  grid.add({{"bb"}, {"c"}});
  EXPECT_EQ(grid.render(1, false), " a\n bb  c\n");
}

TEST(Grid, ColoursCoverTextAlone) {
  Grid grid({Align::kLeft, Align::kRight});
  grid.add({{"a", Colour::kGreen}, {"1", Colour::kRed}});
  grid.add({{"bbb"}, {"222"}});
  EXPECT_EQ(grid.render(0, true),
            "\x1b[32ma\x1b[0m      \x1b[31m1\x1b[0m\n"
            "bbb  222\n");
}

}  // namespace
}  // namespace tigon::harness
