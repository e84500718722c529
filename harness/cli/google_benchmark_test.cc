#include "harness/cli/google_benchmark.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

namespace tigon::harness {
namespace {

GoogleBenchmarkFlags flags_of(const std::vector<std::string>& arguments) {
  GoogleBenchmarkFlags flags;
  for (const std::string& argument : arguments) {
    EXPECT_TRUE(take_google_benchmark_flag(argument, flags)) << argument;
  }
  return flags;
}

std::string error_of(const std::string& argument) {
  try {
    GoogleBenchmarkFlags flags;
    take_google_benchmark_flag(argument, flags);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(GoogleBenchmarkFlagsTest, TakesTheSixThatMeanSomething) {
  const GoogleBenchmarkFlags flags =
      flags_of({"--benchmark_filter=rms.*fused", "--benchmark_list_tests",
                "--benchmark_repetitions=20", "--benchmark_out=a=b.json",
                "--benchmark_out_format=csv", "--benchmark_counters_tabular=yes"});
  EXPECT_EQ(flags.filter, "rms.*fused");
  EXPECT_TRUE(flags.list_tests);
  EXPECT_EQ(flags.repetitions, 20);
  EXPECT_EQ(flags.out, "a=b.json");
  EXPECT_EQ(flags.out_format, "csv");
  EXPECT_TRUE(flags.counters_tabular);
}

TEST(GoogleBenchmarkFlagsTest, AnyoneOfThemIsNoticed) {
  EXPECT_FALSE(GoogleBenchmarkFlags().any());
  for (const char* argument :
       {"--benchmark_filter=x", "--benchmark_list_tests=true", "--benchmark_repetitions=1",
        "--benchmark_out=x", "--benchmark_out_format=console", "--benchmark_counters_tabular"}) {
    EXPECT_TRUE(flags_of({argument}).any()) << argument;
  }
  EXPECT_FALSE(flags_of({"--benchmark_list_tests=false"}).any());
}

TEST(GoogleBenchmarkFlagsTest, LeavesOtherArgumentsAlone) {
  GoogleBenchmarkFlags flags;
  for (const char* argument : {"bench", "--preset=smoke", "--benchmark", "rms_norm/*"}) {
    EXPECT_FALSE(take_google_benchmark_flag(argument, flags)) << argument;
  }
  EXPECT_FALSE(flags.any());
}

TEST(GoogleBenchmarkFlagsTest, EachMistakeIsNamed) {
  EXPECT_EQ(error_of("--benchmark_filter"),
            "--benchmark_filter is empty, expected --benchmark_filter=VALUE");
  EXPECT_EQ(error_of("--benchmark_out="),
            "--benchmark_out is empty, expected --benchmark_out=VALUE");
  EXPECT_TRUE(error_of("--benchmark_filter=a(")
                  .starts_with("--benchmark_filter is \"a(\", expected a regular expression: "));
  for (const std::string value : {"0", "-1", "x", "1.5", ""}) {
    EXPECT_EQ(
        error_of("--benchmark_repetitions=" + value),
        "--benchmark_repetitions is \"" + value + "\", expected a whole number of at least 1");
  }
  EXPECT_EQ(error_of("--benchmark_out_format=xml"),
            "--benchmark_out_format is \"xml\", expected console, json or csv");
  EXPECT_EQ(error_of("--benchmark_list_tests=maybe"),
            "--benchmark_list_tests is \"maybe\", expected true or false");
  EXPECT_TRUE(error_of("--benchmark_min_time=1")
                  .starts_with("--benchmark_min_time is not passed on to Google Benchmark; "));
}

TEST(GoogleBenchmarkNamesTest, AreCaseImplementationAndPass) {
  const Case c{"rms_norm", {{"rows", "8"}}, DType::kBFloat16, "normal"};
  EXPECT_EQ(
      benchmark_names(c, false),
      (std::vector<std::string>{
          "rms_norm/rows=8/bf16/normal/fused/forward", "rms_norm/rows=8/bf16/normal/fused/backward",
          "rms_norm/rows=8/bf16/normal/fused/step", "rms_norm/rows=8/bf16/normal/eager/forward",
          "rms_norm/rows=8/bf16/normal/eager/backward", "rms_norm/rows=8/bf16/normal/eager/step"}));
  EXPECT_EQ(benchmark_names(c, true).size(), 9u);
  EXPECT_EQ(benchmark_names(c, true)[6], "rms_norm/rows=8/bf16/normal/library/forward");
}

TEST(GoogleBenchmarkNamesTest, TheFilterIsARegularExpressionOrItsOpposite) {
  const auto matches = [](const std::string& filter, const std::string& name) {
    GoogleBenchmarkFlags flags;
    flags.filter = filter;
    return matches_benchmark_filter(flags, name);
  };
  EXPECT_TRUE(matches("", "a/b"));
  EXPECT_TRUE(matches("all", "a/b"));
  EXPECT_TRUE(matches("b$", "a/b"));
  EXPECT_FALSE(matches("^b", "a/b"));
  EXPECT_FALSE(matches("-b$", "a/b"));
  EXPECT_TRUE(matches("-^b", "a/b"));
}

SpeedRecord row(const std::string& implementation, const std::string& pass,
                std::optional<double> time_us) {
  SpeedRecord record;
  record.case_id = "rms_norm/rows=8/bf16/normal";
  record.implementation = implementation;
  record.pass = pass;
  record.time_us = time_us;
  if (time_us) {
    record.samples = 40;
    record.time_p10_us = *time_us * 0.9;
    record.speedup_vs_eager = 2.5;
  } else {
    record.status = Status::kOom;
    record.reason = "no memory";
  }
  return record;
}

class GoogleBenchmarkReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tigon_report_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    // As under `bazel run`: relative paths are the caller's.
    ::setenv("BUILD_WORKING_DIRECTORY", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("BUILD_WORKING_DIRECTORY");
    std::filesystem::remove_all(folder_);
  }
  std::string report(const GoogleBenchmarkFlags& flags) {
    std::ostringstream out;
    report_as_google_benchmark(flags, records_, out);
    return out.str();
  }
  std::string file(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  std::vector<SpeedRecord> records_ = {row("fused", "forward", 12.5), row("fused", "verify", 99),
                                       row("eager", "forward", std::nullopt)};
  std::filesystem::path folder_;
};

TEST_F(GoogleBenchmarkReportTest, TheConsoleShowsTimedRowsAndFailures) {
  const std::string text = report({});
  EXPECT_NE(text.find("rms_norm/rows=8/bf16/normal/fused/forward"), std::string::npos) << text;
  EXPECT_NE(text.find("12.5 us"), std::string::npos) << text;
  EXPECT_NE(text.find("speedup=2.5"), std::string::npos) << text;
  EXPECT_NE(text.find("ERROR OCCURRED: 'no memory'"), std::string::npos) << text;
  EXPECT_EQ(text.find("verify"), std::string::npos) << text;
  EXPECT_EQ(text.find("DEBUG"), std::string::npos) << text;
}

TEST_F(GoogleBenchmarkReportTest, TheFilterHoldsForTheReport) {
  const std::string text = report(flags_of({"--benchmark_filter=eager"}));
  EXPECT_EQ(text.find("fused"), std::string::npos) << text;
  EXPECT_NE(text.find("eager/forward"), std::string::npos) << text;
}

TEST_F(GoogleBenchmarkReportTest, TheFileIsJsonInTheCallersFolder) {
  report(flags_of({"--benchmark_out=report.json"}));
  const auto json = nlohmann::json::parse(file("report.json"));
  ASSERT_EQ(json["benchmarks"].size(), 2u);
  const auto& fused = json["benchmarks"][0];
  EXPECT_EQ(fused["name"], "rms_norm/rows=8/bf16/normal/fused/forward");
  EXPECT_EQ(fused["iterations"], 40);
  EXPECT_NEAR(fused["real_time"].get<double>(), 12.5, 1e-9);
  EXPECT_EQ(fused["time_unit"], "us");
  EXPECT_NEAR(fused["p10_us"].get<double>(), 11.25, 1e-9);
  EXPECT_EQ(json["benchmarks"][1]["error_occurred"], true);
}

TEST_F(GoogleBenchmarkReportTest, TheFileMayBeCsvOrText) {
  report(flags_of({"--benchmark_out=report.csv", "--benchmark_out_format=csv"}));
  EXPECT_NE(file("report.csv").find("name,iterations,real_time,"), std::string::npos);
  report(flags_of({"--benchmark_out=report.txt", "--benchmark_out_format=console"}));
  EXPECT_NE(file("report.txt").find("12.5 us"), std::string::npos);
}

TEST_F(GoogleBenchmarkReportTest, AFileThatCannotBeWrittenIsNamed) {
  try {
    report(flags_of({"--benchmark_out=no/such/folder.json"}));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "--benchmark_out: " + (folder_ / "no/such/folder.json").string() + " cannot be written");
  }
}

}  // namespace
}  // namespace tigon::harness
