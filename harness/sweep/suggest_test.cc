#include "harness/sweep/suggest.h"

#include <gtest/gtest.h>

namespace tigon::harness {
namespace {

TEST(EditDistance, CountsEachKindOfEditOnce) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("hidden", "hiden"), 1u);
  EXPECT_EQ(edit_distance("hidden", "hidxen"), 1u);
  EXPECT_EQ(edit_distance("rms_norm", "rms_nrom"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, SuggestsSlipsAndNothingElse) {
  const std::vector<std::string> known = {"rms_norm", "layer_norm", "swiglu"};
  EXPECT_EQ(nearest("rmsnorm", known), "rms_norm");
  EXPECT_EQ(nearest("swigul", known), "swiglu");
  EXPECT_EQ(nearest("softmax", known), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

TEST(UnknownName, SaysWhatIsKnown) {
  EXPECT_EQ(unknown_name("operator", "swigul", {"rms_norm", "swiglu"}),
            "unknown operator \"swigul\": did you mean \"swiglu\"? Known: rms_norm, swiglu");
  EXPECT_EQ(unknown_name("operator", "softmax", {"rms_norm", "swiglu"}),
            "unknown operator \"softmax\": Known: rms_norm, swiglu");
  EXPECT_EQ(unknown_name("axis", "rows", {}), "unknown axis \"rows\": Known: none");
}

}  // namespace
}  // namespace tigon::harness
