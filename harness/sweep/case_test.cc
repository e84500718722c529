#include "harness/sweep/case.h"

#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <stdexcept>

namespace tigon::harness {
namespace {

Case sample() {
  return {"rms_norm",
          {{"rows", "8192"}, {"hidden", "4096"}, {"casting", "llama", false}},
          DType::kBFloat16,
          "normal"};
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Case, IdHasSizesThenDtypeThenProfile) {
  EXPECT_EQ(sample().id(), "rms_norm/rows=8192/hidden=4096/bf16/normal");
  EXPECT_EQ(sample().point(), "rows=8192/hidden=4096/bf16/normal");
}

TEST(Case, OptionStandsInTheIdOnlyAwayFromItsDefault) {
  Case c = sample();
  c.axes[2] = {"casting", "gemma"};
  EXPECT_EQ(c.id(), "rms_norm/rows=8192/hidden=4096/casting=gemma/bf16/normal");
}

TEST(Case, NoAxesIsFine) {
  EXPECT_EQ((Case{"noop", {}, DType::kFloat32, "zeros"}).id(), "noop/fp32/zeros");
}

TEST(Case, AxesAreFoundByName) {
  const Case c = sample();
  EXPECT_EQ(c.integer("rows"), 8192);
  EXPECT_EQ(c.text("hidden"), "4096");
  EXPECT_EQ(c.text("casting"), "llama");  // known though not in the id
  EXPECT_TRUE(c.has("casting"));
  EXPECT_FALSE(c.has("vocab"));
}

TEST(Case, UnknownAxisNamesOperatorAxisAndKnownAxes) {
  EXPECT_EQ(error_of([] { sample().integer("hiden"); }),
            "operator \"rms_norm\": unknown axis \"hiden\": did you mean \"hidden\"? "
            "Known: rows, hidden, casting");
}

TEST(Case, IntegerRefusesWhatIsNotAWholeNumber) {
  EXPECT_EQ(error_of([] { sample().integer("casting"); }),
            "operator \"rms_norm\": axis \"casting\" is \"llama\", want a whole number");
  Case c = sample();
  c.axes[0].value = "12x";
  EXPECT_NE(error_of([&] { c.integer("rows"); }), "no error");
  c.axes[0].value = "99999999999999999999";
  EXPECT_NE(error_of([&] { c.integer("rows"); }), "no error");
}

TEST(CheckIdParts, AcceptsWhatIdsAreMadeOf) {
  Case c = sample();
  c.axes.push_back({"eps", "1e-06"});
  c.axes.push_back({"scale", "-1.5e+3"});
  check_id_parts(c);
  EXPECT_TRUE(std::regex_match(c.id(), std::regex("[A-Za-z0-9_./=+-]+"))) << c.id();
}

TEST(CheckIdParts, RefusesWhatWouldSplitAnId) {
  for (const char* bad : {"", "a/b", "a=b", "a:b", "a b", "a,b", "a*"}) {
    Case c = sample();
    c.axes[0].value = bad;
    EXPECT_THROW(check_id_parts(c), std::invalid_argument) << bad;
    c = sample();
    c.axes[0].name = bad;
    EXPECT_THROW(check_id_parts(c), std::invalid_argument) << bad;
    c = sample();
    c.profile = bad;
    EXPECT_THROW(check_id_parts(c), std::invalid_argument) << bad;
    c = sample();
    c.op = bad;
    EXPECT_THROW(check_id_parts(c), std::invalid_argument) << bad;
  }
  Case c = sample();
  c.axes[0].value = "a:b";
  EXPECT_EQ(error_of([&] { check_id_parts(c); }),
            "operator \"rms_norm\": the value of axis \"rows\", \"a:b\" cannot stand in a case id: "
            "want one or more of [A-Za-z0-9_.+-]");
}

}  // namespace
}  // namespace tigon::harness
