#include "harness/cli/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tigon::harness {
namespace {

using Texts = std::vector<std::string>;

Options parsed(const Texts& arguments) { return parse_command_line(arguments, "all").options; }

std::string help_of(const Texts& arguments) { return parse_command_line(arguments, "all").help; }

std::string error_of(const Texts& arguments) {
  try {
    parse_command_line(arguments, "all");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OptionsTest, NothingMeansTheDefaults) {
  const Options options = parsed({});
  EXPECT_EQ(options.verb, Verb::kRun);
  EXPECT_EQ(options.preset, Preset::kDefault);
  EXPECT_TRUE(options.devices.empty());
  EXPECT_TRUE(options.filter.patterns.empty());
  EXPECT_FALSE(options.out.has_value());
  EXPECT_EQ(options.seed, 0u);
  EXPECT_FALSE(options.dry_run);
  EXPECT_EQ(options.timeout_s, 60);
  EXPECT_FALSE(options.benchmark.any());
}

TEST(OptionsTest, TheFirstWordIsTheVerb) {
  for (const Verb verb : {Verb::kRun, Verb::kList, Verb::kVerify, Verb::kBench, Verb::kMutants}) {
    EXPECT_EQ(parsed({std::string(to_string(verb))}).verb, verb);
    EXPECT_EQ(parsed({std::string(to_string(verb)), "--preset=smoke"}).preset, Preset::kSmoke);
  }
}

TEST(OptionsTest, EveryOptionIsTaken) {
  const Options options =
      parsed({"verify", "--operator=rms_norm", "--axis=rows=1..64", "--dtype=bf16",
              "--profile=zeros", "--regex", "--device=cuda:1", "--preset=full", "--seed=42",
              "--timeout=1.5", "--out=results/here", "--dry-run", "hidden"});
  EXPECT_EQ(options.verb, Verb::kVerify);
  EXPECT_EQ(options.filter.operators, Texts{"rms_norm"});
  EXPECT_EQ(options.filter.axes, Texts{"rows=1..64"});
  EXPECT_EQ(options.filter.dtypes, Texts{"bf16"});
  EXPECT_EQ(options.filter.profiles, Texts{"zeros"});
  EXPECT_TRUE(options.filter.regex);
  EXPECT_EQ(options.devices, Texts{"cuda:1"});
  EXPECT_EQ(options.preset, Preset::kFull);
  EXPECT_EQ(options.seed, 42u);
  EXPECT_EQ(options.timeout_s, 1.5);
  EXPECT_EQ(options.out, "results/here");
  EXPECT_TRUE(options.dry_run);
  EXPECT_EQ(options.filter.patterns, Texts{"hidden"});
}

TEST(OptionsTest, ListsMayBeRepeatedOrSplitByCommas) {
  EXPECT_EQ(parsed({"--dtype", "bf16,fp32", "--dtype=fp16"}).filter.dtypes,
            (Texts{"bf16", "fp32", "fp16"}));
  EXPECT_EQ(parsed({"--device=cpu,cuda:0"}).devices, (Texts{"cpu", "cuda:0"}));
  EXPECT_EQ(parsed({"--operator=a", "--operator=b"}).filter.operators, (Texts{"a", "b"}));
}

TEST(OptionsTest, AnAxisKeepsItsCommas) {
  EXPECT_EQ(parsed({"--axis", "hidden=4096,8192", "--axis=rows=1024..16384*2"}).filter.axes,
            (Texts{"hidden=4096,8192", "rows=1024..16384*2"}));
}

TEST(OptionsTest, CasesMayStandAnywhereAfterTheVerb) {
  const Texts want = {"rms_norm/*", "/hidden=[12]/"};
  EXPECT_EQ(parsed({"rms_norm/*", "/hidden=[12]/", "--dtype", "bf16"}).filter.patterns, want);
  EXPECT_EQ(parsed({"--dtype", "bf16", "rms_norm/*", "/hidden=[12]/"}).filter.patterns, want);
  EXPECT_EQ(parsed({"bench", "rms_norm/*", "--axis", "rows=1", "/hidden=[12]/"}).filter.patterns,
            want);
  for (const char* option : {"--operator", "--axis", "--dtype", "--profile", "--device"}) {
    EXPECT_EQ(parsed({option, "x", "rms_norm/*", "/hidden=[12]/"}).filter.patterns, want) << option;
  }
}

TEST(OptionsTest, GoogleBenchmarkFlagsMayStandAnywhere) {
  const Options options =
      parsed({"--benchmark_filter=rms", "bench", "--benchmark_repetitions=5", "rms_norm/*"});
  EXPECT_EQ(options.verb, Verb::kBench);
  EXPECT_EQ(options.benchmark.filter, "rms");
  EXPECT_EQ(options.benchmark.repetitions, 5);
  EXPECT_EQ(options.filter.patterns, Texts{"rms_norm/*"});
}

TEST(OptionsTest, HelpNamesEveryOption) {
  const Texts filters = {"CASE",    "--operator", "--axis",   "--dtype", "--profile",
                         "--regex", "--device",   "--preset", "--seed",  "--timeout"};
  const Texts output = {"--out", "--dry-run"};
  const Texts benchmark = {"--benchmark_filter",      "--benchmark_list_tests",
                           "--benchmark_repetitions", "--benchmark_out",
                           "--benchmark_out_format",  "--benchmark_counters_tabular"};
  const auto expect = [](const std::string& help, const Texts& names, bool there) {
    for (const std::string& name : names) {
      EXPECT_EQ(help.find(name) != std::string::npos, there) << name << " in\n" << help;
    }
  };
  for (const std::string verb : {"run", "list", "verify", "bench", "mutants"}) {
    const std::string help = help_of({verb, "--help"});
    const bool timed = verb == "run" || verb == "bench";
    expect(help, filters, true);
    expect(help, output, timed || verb == "verify");
    expect(help, benchmark, timed);
    expect(help, {"bazel run //suites:all -- " + verb, "Exit codes: 0 "}, true);
    expect(help, {"11 ", "12 ", "13 "}, true);
  }
}

TEST(OptionsTest, HelpWithoutAVerbShowsTheVerbsToo) {
  const std::string help = help_of({"--help"});
  for (const std::string verb : {"run", "list", "verify", "bench", "mutants"}) {
    EXPECT_NE(help.find("\n  " + verb + " "), std::string::npos) << verb;
  }
  EXPECT_NE(help.find("--preset"), std::string::npos);
  EXPECT_EQ(help_of({"run", "--help"}).find("\n  mutants "), std::string::npos);
  EXPECT_EQ(help_of({"-h"}), help);
}

TEST(OptionsTest, EachMistakeIsNamed) {
  EXPECT_EQ(error_of({"benhc"}),
            "unknown verb \"benhc\": did you mean \"bench\"? Known: run, list, verify, bench, "
            "mutants");
  EXPECT_EQ(error_of({"--preset=smoke", "list"}), "list has to be the first argument");
  EXPECT_TRUE(error_of({"--preset=quick"}).starts_with("--preset: "))
      << error_of({"--preset=quick"});
  EXPECT_NE(error_of({"--preset=quick"}).find("quick"), std::string::npos);
  for (const Texts& arguments :
       {Texts{"--seed=much"}, Texts{"--seed=-1"}, Texts{"--timeout=0"}, Texts{"--timeout=-3"},
        Texts{"--timeout=soon"}, Texts{"--axis"}, Texts{"--dry"}, Texts{"--operators=rms_norm"},
        Texts{"list", "--out=x"}, Texts{"mutants", "--dry-run"}}) {
    const std::string error = error_of(arguments);
    const std::string flag = arguments.back().substr(0, arguments.back().find('='));
    EXPECT_NE(error.find(flag), std::string::npos) << flag << ": " << error;
    EXPECT_NE(error.find("(see --help)"), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(OptionsTest, GoogleBenchmarkFlagsGoWithWhatIsTimed) {
  for (const std::string verb : {"list", "verify", "mutants"}) {
    EXPECT_EQ(error_of({verb, "--benchmark_filter=x"}),
              "Google Benchmark's flags go with run and bench, not with " + verb);
  }
  EXPECT_EQ(error_of({"--benchmark_min_time=2"}),
            "--benchmark_min_time is not passed on to Google Benchmark; --benchmark_filter, "
            "--benchmark_list_tests, --benchmark_repetitions, --benchmark_out, "
            "--benchmark_out_format and --benchmark_counters_tabular are");
}

}  // namespace
}  // namespace tigon::harness
