#include "harness/sweep/filter.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

namespace tigon::harness {
namespace {

std::vector<PlannedCase> sample() {
  Sweep norm;
  norm.name = "norm";
  norm.presets = {Preset::kSmoke};
  norm.devices = {DeviceKind::kCpu};
  norm.axes = {integer_axis("rows", {1, 1024, 3000, 4096, 8192}),
               integer_axis("hidden", {128, 4096}), Axis{"casting", {"llama", "gemma"}, {}, {}}};
  norm.dtypes = {DType::kFloat32, DType::kBFloat16};
  norm.profiles = {"normal", "zeros"};
  Sweep glu = norm;
  glu.name = "glu";
  glu.axes = {integer_axis("rows", {1, 8192}), integer_axis("width", {11008})};
  auto cases = expand("rms_norm", {option_axis("casting", {"llama", "gemma"}, "llama")}, {norm},
                      Preset::kSmoke, DeviceKind::kCpu);
  for (PlannedCase& planned : expand("swiglu", {}, {glu}, Preset::kSmoke, DeviceKind::kCpu)) {
    cases.push_back(planned);
  }
  return cases;  // 5 * 2 * 2 * 2 * 2 = 80 of rms_norm, 2 * 2 * 2 = 8 of swiglu
}

std::size_t count(const FilterText& text) { return select(text, sample()).size(); }

std::string error_of(const FilterText& text) {
  try {
    select(text, sample());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Filter, NothingAskedKeepsAll) { EXPECT_EQ(count({}), 88u); }

TEST(Filter, ItemsOfAKindAreAlternativesAndKindsMustAgree) {
  EXPECT_EQ(count({.operators = {"swiglu"}}), 8u);
  EXPECT_EQ(count({.operators = {"swiglu,rms_norm"}}), 88u);
  EXPECT_EQ(count({.operators = {"swiglu", "rms_norm"}}), 88u);
  EXPECT_EQ(count({.dtypes = {"bf16"}}), 44u);
  EXPECT_EQ(count({.operators = {"swiglu"}, .dtypes = {"bf16"}, .profiles = {"zeros"}}), 2u);
}

TEST(Filter, AxisValuesAndRanges) {
  EXPECT_EQ(count({.axes = {"rows=1"}}), 20u);       // 16 + 4
  EXPECT_EQ(count({.axes = {"rows=1,8192"}}), 40u);  // 32 + 8
  EXPECT_EQ(count({.axes = {"rows=1", "rows=8192"}}), 40u);
  EXPECT_EQ(count({.axes = {"rows=1024..4096"}}), 48u);    // 1024, 3000, 4096
  EXPECT_EQ(count({.axes = {"rows=1024..8191*2"}}), 32u);  // 1024, 4096
  EXPECT_EQ(count({.axes = {"rows=1024..8192*4"}}),
            32u);  // 1024, 4096: 8192 is no power of 4 times
  EXPECT_EQ(count({.axes = {"rows=3000..4096*2,1"}}), 36u);
  EXPECT_EQ(count({.axes = {"rows=1", "hidden=128"}}), 8u);
}

TEST(Filter, OptionsAreFilteredAtTheirDefaultToo) {
  EXPECT_EQ(count({.axes = {"casting=llama"}}), 40u);
  EXPECT_EQ(count({.axes = {"casting=gemma"}}), 40u);
}

TEST(Filter, GlobMatchesTheWholeIdAcrossSlashes) {
  EXPECT_EQ(count({.patterns = {"swiglu/rows=1/width=11008/bf16/zeros"}}), 1u);
  EXPECT_EQ(count({.patterns = {"rms_norm/*"}}), 80u);
  EXPECT_EQ(count({.patterns = {"*/bf16/*"}}), 44u);
  EXPECT_EQ(count({.patterns = {"*/casting=gemma/*"}}), 40u);
  EXPECT_EQ(count({.patterns = {"*/?p32/[zn]*"}}), 44u);
  EXPECT_EQ(count({.patterns = {"swiglu/*", "*/zeros"}}), 48u);  // 8 + 44 - 4
  // The whole id, not a part of it.
  EXPECT_EQ(error_of({.patterns = {"swiglu"}}), "the filter keeps none of the 88 cases");
}

TEST(Filter, RegexMatchesAnywhere) {
  EXPECT_EQ(count({.patterns = {"/swiglu/"}}), 8u);
  EXPECT_EQ(count({.patterns = {"/rows=(1|1024)//"}}), 36u);
  EXPECT_EQ(count({.patterns = {"^swiglu.*zeros$"}, .regex = true}), 4u);
  EXPECT_NE(error_of({.patterns = {"/(/"}}).find("\"(\" is no regular expression"),
            std::string::npos);
}

TEST(Filter, UnknownNamesAreErrors) {
  EXPECT_EQ(error_of({.operators = {"swigul"}}),
            "unknown operator \"swigul\": did you mean \"swiglu\"? Known: rms_norm, swiglu");
  EXPECT_EQ(error_of({.axes = {"hiden=128"}}),
            "unknown axis \"hiden\": did you mean \"hidden\"? Known: casting, hidden, rows, width");
  EXPECT_EQ(error_of({.axes = {"rows=1025"}}),
            "unknown value of axis \"rows\" \"1025\": did you mean \"1024\"? Known: 1, 1024, 3000, "
            "4096, 8192");
  EXPECT_EQ(error_of({.dtypes = {"float"}}), "unknown dtype \"float\": Known: fp32, bf16, fp16");
  EXPECT_EQ(error_of({.profiles = {"zero"}}),
            "unknown profile \"zero\": did you mean \"zeros\"? Known: normal, zeros");
}

TEST(Filter, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(error_of({.operators = {"swiglu,"}}), "empty operator in \"swiglu,\"");
  EXPECT_EQ(error_of({.axes = {"rows="}}), "empty value of axis \"rows\" in \"\"");
  EXPECT_EQ(error_of({.axes = {"rows"}}),
            "axis filter \"rows\": want NAME=VALUE[,VALUE...], NAME=LOW..HIGH or "
            "NAME=LOW..HIGH*FACTOR");
  EXPECT_EQ(
      error_of({.axes = {"rows=1..x"}}),
      "axis filter \"rows=1..x\": \"1..x\" is no range; want LOW..HIGH or LOW..HIGH*FACTOR of "
      "whole numbers");
  EXPECT_EQ(error_of({.axes = {"rows=8..4"}}),
            "axis filter \"rows=8..4\": \"8..4\" is empty, 8 is above 4");
  for (const char* bad : {"rows=1..8*1", "rows=0..8*2", "rows=1..8*", "rows=..8", "rows=1..",
                          "rows=1..*2", "rows=1..8*2*2", "=1"}) {
    EXPECT_NE(error_of({.axes = {bad}}), "no error") << bad;
  }
  EXPECT_EQ(error_of({.patterns = {""}}), "empty id pattern");
  EXPECT_EQ(error_of({.patterns = {"//"}}), "empty id pattern");
}

TEST(Filter, KeepingNothingIsAnErrorWithTheCount) {
  EXPECT_EQ(error_of({.operators = {"swiglu"}, .axes = {"hidden=128"}}),
            "the filter keeps none of the 88 cases");
  EXPECT_EQ(error_of({.patterns = {"swiglu/rows=1/width=11088/bf16/zeros"}}),
            "the filter keeps none of the 88 cases; near \"swiglu/rows=1/width=11088/bf16/zeros\" "
            "there is swiglu/rows=1/width=11008/bf16/zeros");
}

TEST(Filter, AnOperatorMayBeKnownWithoutCases) {
  const auto cases = sample();
  Vocabulary known = Vocabulary::of(cases);
  known.add_operator("softmax");
  EXPECT_THROW(select({.operators = {"softmax"}}, {}, known), std::invalid_argument);
  EXPECT_EQ(select({.operators = {"softmax,swiglu"}}, cases, known).size(), 8u);
}

}  // namespace
}  // namespace tigon::harness
