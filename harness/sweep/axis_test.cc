#include "harness/sweep/axis.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

namespace tigon::harness {
namespace {

using Ids = std::vector<std::string>;

Sweep sweep_of(std::string name, std::vector<Preset> presets) {
  Sweep sweep;
  sweep.name = std::move(name);
  sweep.presets = std::move(presets);
  sweep.devices = {DeviceKind::kCpu, DeviceKind::kCuda};
  sweep.dtypes = {DType::kFloat32};
  sweep.profiles = {"normal"};
  return sweep;
}

Ids ids(const std::vector<PlannedCase>& cases) {
  Ids result;
  for (const PlannedCase& planned : cases) result.push_back(planned.c.id());
  return result;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Axis, HelpersWriteWholeNumbersAndOptions) {
  EXPECT_EQ(integer_axis("rows", {1, 65537}).values, (Ids{"1", "65537"}));
  EXPECT_EQ(integer_axis("rows", {1}).default_value, std::nullopt);
  EXPECT_EQ(option_axis("casting", {"llama", "gemma"}, "llama").default_value, "llama");
  EXPECT_EQ(integer_point({{"rows", 8}, {"hidden", 16}}),
            (std::vector<AxisValue>{{"rows", "8"}, {"hidden", "16"}}));
}

TEST(Axis, NamesGoBothWays) {
  for (Preset preset : {Preset::kSmoke, Preset::kDefault, Preset::kFull}) {
    EXPECT_EQ(parse_preset(to_string(preset)), preset);
  }
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    EXPECT_EQ(parse_device_kind(to_string(kind)), kind);
  }
  EXPECT_EQ(error_of([] { parse_preset("ful"); }),
            "unknown preset \"ful\": did you mean \"full\"? Known: smoke, default, full");
  EXPECT_EQ(error_of([] { parse_device_kind("rocm"); }),
            "unknown device kind \"rocm\": Known: cpu, cuda");
}

TEST(Expand, CrossesAxesDtypesAndProfiles) {
  Sweep sweep = sweep_of("sizes", {Preset::kSmoke});
  sweep.axes = {integer_axis("rows", {1, 2}), integer_axis("hidden", {8, 16})};
  sweep.dtypes = {DType::kFloat32, DType::kBFloat16};
  sweep.profiles = {"normal", "zeros"};
  const auto cases = expand("op", {}, {sweep}, Preset::kSmoke, DeviceKind::kCpu);
  ASSERT_EQ(cases.size(), 16u);
  EXPECT_EQ(cases[0].c.id(), "op/rows=1/hidden=8/fp32/normal");
  EXPECT_EQ(cases[1].c.id(), "op/rows=1/hidden=8/fp32/zeros");
  EXPECT_EQ(cases[2].c.id(), "op/rows=1/hidden=8/bf16/normal");
  EXPECT_EQ(cases[4].c.id(), "op/rows=1/hidden=16/fp32/normal");
  EXPECT_EQ(cases[15].c.id(), "op/rows=2/hidden=16/bf16/zeros");
  EXPECT_EQ(cases[15].c.integer("hidden"), 16);
}

TEST(Expand, CrossesPointsWithAxes) {
  Sweep sweep = sweep_of("models", {Preset::kSmoke});
  sweep.points = {integer_point({{"rows", 4}, {"hidden", 8}}),
                  integer_point({{"rows", 5}, {"hidden", 9}})};
  sweep.axes = {{"casting", {"llama", "gemma"}, {}, {}}};
  const std::vector<Axis> options = {option_axis("casting", {"llama", "gemma", "none"}, "llama")};
  EXPECT_EQ(
      ids(expand("op", options, {sweep}, Preset::kSmoke, DeviceKind::kCpu)),
      (Ids{"op/rows=4/hidden=8/fp32/normal", "op/rows=4/hidden=8/casting=gemma/fp32/normal",
           "op/rows=5/hidden=9/fp32/normal", "op/rows=5/hidden=9/casting=gemma/fp32/normal"}));
}

TEST(Expand, AddingAnOptionLeavesIdsAsTheyAre) {
  Sweep sweep = sweep_of("sizes", {Preset::kSmoke});
  sweep.axes = {integer_axis("rows", {1, 2})};
  const std::vector<Axis> options = {option_axis("casting", {"llama", "gemma"}, "llama"),
                                     option_axis("offset", {"0", "1"}, "0")};
  const auto plain = expand("op", {}, {sweep}, Preset::kSmoke, DeviceKind::kCpu);
  const auto with_options = expand("op", options, {sweep}, Preset::kSmoke, DeviceKind::kCpu);
  EXPECT_EQ(ids(plain), ids(with_options));
  EXPECT_EQ(with_options[0].c.text("casting"), "llama");
  EXPECT_EQ(with_options[0].c.integer("offset"), 0);
}

TEST(Expand, OptionsStandAfterSizesInTheirDeclaredOrder) {
  Sweep sweep = sweep_of("sizes", {Preset::kSmoke});
  sweep.axes = {
      {"offset", {"1"}, {}, {}}, integer_axis("rows", {1}), {"casting", {"gemma"}, {}, {}}};
  const std::vector<Axis> options = {option_axis("casting", {"llama", "gemma"}, "llama"),
                                     option_axis("offset", {"0", "1"}, "0")};
  EXPECT_EQ(ids(expand("op", options, {sweep}, Preset::kSmoke, DeviceKind::kCpu)),
            (Ids{"op/rows=1/casting=gemma/offset=1/fp32/normal"}));
}

TEST(Expand, LargerPresetsIncludeSmallerOnes) {
  std::vector<Sweep> sweeps;
  for (Preset preset : {Preset::kSmoke, Preset::kDefault, Preset::kFull}) {
    sweeps.push_back(sweep_of(std::string(to_string(preset)), {preset}));
    sweeps.back().axes = {integer_axis("rows", {static_cast<int64_t>(preset)})};
  }
  const auto count = [&](Preset preset) {
    return expand("op", {}, sweeps, preset, DeviceKind::kCpu).size();
  };
  EXPECT_EQ(count(Preset::kSmoke), 1u);
  EXPECT_EQ(count(Preset::kDefault), 2u);
  EXPECT_EQ(count(Preset::kFull), 3u);
}

TEST(Expand, TakesOnlySweepsOfTheDevice) {
  Sweep cpu = sweep_of("cpu", {Preset::kSmoke});
  cpu.devices = {DeviceKind::kCpu};
  cpu.axes = {integer_axis("rows", {1})};
  Sweep cuda = sweep_of("cuda", {Preset::kSmoke});
  cuda.devices = {DeviceKind::kCuda};
  cuda.axes = {integer_axis("rows", {2})};
  EXPECT_EQ(ids(expand("op", {}, {cpu, cuda}, Preset::kFull, DeviceKind::kCpu)),
            (Ids{"op/rows=1/fp32/normal"}));
  EXPECT_EQ(ids(expand("op", {}, {cpu, cuda}, Preset::kFull, DeviceKind::kCuda)),
            (Ids{"op/rows=2/fp32/normal"}));
}

TEST(Expand, AnIdStandsOnceAndTimedWins) {
  Sweep verified = sweep_of("hostile", {Preset::kSmoke});
  verified.timed = false;
  verified.axes = {integer_axis("rows", {1, 2})};
  Sweep timed = sweep_of("models", {Preset::kSmoke});
  timed.axes = {integer_axis("rows", {2, 3})};
  for (const auto& sweeps : {std::vector{verified, timed}, std::vector{timed, verified}}) {
    const auto cases = expand("op", {}, sweeps, Preset::kSmoke, DeviceKind::kCpu);
    ASSERT_EQ(cases.size(), 3u);
    for (const PlannedCase& planned : cases) {
      EXPECT_EQ(planned.timed, planned.c.integer("rows") != 1) << planned.c.id();
    }
  }
}

TEST(Expand, SizesAreOrderedAsInTheFirstSweepWhateverThePreset) {
  Sweep first = sweep_of("full", {Preset::kFull});
  first.axes = {integer_axis("rows", {1}), integer_axis("hidden", {2})};
  Sweep second = sweep_of("smoke", {Preset::kSmoke});
  second.axes = {integer_axis("hidden", {2}), integer_axis("rows", {1})};
  for (Preset preset : {Preset::kSmoke, Preset::kFull}) {
    EXPECT_EQ(ids(expand("op", {}, {first, second}, preset, DeviceKind::kCpu)),
              (Ids{"op/rows=1/hidden=2/fp32/normal"}));
  }
}

TEST(Expand, KeepDropsCases) {
  Sweep sweep = sweep_of("sizes", {Preset::kSmoke});
  sweep.axes = {integer_axis("rows", {1, 2, 3})};
  sweep.keep = [](const Case& c) { return c.integer("rows") != 2; };
  EXPECT_EQ(ids(expand("op", {}, {sweep}, Preset::kSmoke, DeviceKind::kCpu)),
            (Ids{"op/rows=1/fp32/normal", "op/rows=3/fp32/normal"}));
}

TEST(Expand, MistakesNameOperatorAndSweep) {
  const auto error = [](const std::function<void(Sweep&)>& change,
                        const std::vector<Axis>& options = {}) {
    Sweep good = sweep_of("good", {Preset::kSmoke});
    good.axes = {integer_axis("rows", {1})};
    Sweep bad = good;
    bad.name = "bad";
    change(bad);
    return error_of([&] { expand("op", options, {good, bad}, Preset::kSmoke, DeviceKind::kCpu); });
  };
  EXPECT_EQ(error([](Sweep& s) { s.axes.push_back(integer_axis("hidden", {1})); }),
            "operator \"op\", sweep \"bad\": its sizes are [rows, hidden], want those of the first "
            "sweep, [rows]; an axis that only some sweeps have must be an option with a default");
  EXPECT_EQ(error([](Sweep& s) { s.axes.push_back(integer_axis("rows", {1})); }),
            "operator \"op\", sweep \"bad\": axis \"rows\" stands twice");
  EXPECT_EQ(error(
                [](Sweep& s) {
                  s.axes.push_back({"casting", {"gema"}, {}, {}});
                },
                {option_axis("casting", {"llama", "gemma"}, "llama")}),
            "operator \"op\", sweep \"bad\": unknown value of option \"casting\" \"gema\": did you "
            "mean \"gemma\"? Known: llama, gemma");
  EXPECT_EQ(error([](Sweep& s) { s.axes[0].values.clear(); }),
            "operator \"op\", sweep \"bad\": axis \"rows\" has no values");
  EXPECT_EQ(error([](Sweep& s) { s.dtypes.clear(); }), "operator \"op\", sweep \"bad\": no dtypes");
  EXPECT_EQ(error([](Sweep& s) { s.profiles.clear(); }),
            "operator \"op\", sweep \"bad\": no profiles");
  EXPECT_EQ(error([](Sweep&) {}, {Axis{"casting", {"llama"}, {}, {}}}),
            "operator \"op\": option \"casting\" has no default value");
  EXPECT_NE(error([](Sweep& s) { s.axes[0].values = {"a:b"}; }), "no error");
}

}  // namespace
}  // namespace tigon::harness
