#include "harness/record/results.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <regex>

namespace tigon::harness {
namespace {

namespace fs = std::filesystem;
using Mode = ResultsWriter::Mode;

class ResultsTest : public testing::Test {
 protected:
  ResultsTest() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(testing::TempDir()) / ("results_test_" + name);
    fs::remove_all(folder_);
  }
  ~ResultsTest() override {
    fs::remove_all(folder_);
    unsetenv("BUILD_WORKING_DIRECTORY");
  }

  fs::path folder_;
};

SpeedRecord speed(std::string case_id, Status status = Status::kOk) {
  SpeedRecord record;
  record.case_id = std::move(case_id);
  record.op = "op";
  record.device = "cpu";
  record.implementation = implementation::kFused;
  record.pass = pass::kForward;
  record.status = status;
  record.time_us = 1.25;
  return record;
}

PrecisionRecord precision(std::string tensor) {
  PrecisionRecord record;
  record.case_id = "op/fp32/normal";
  record.tensor = std::move(tensor);
  record.err_rms = 1e-8;
  return record;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(ResultsTest, WhatIsWrittenIsReadBackWhileTheWriterStillLives) {
  ResultsWriter writer(folder_ / "deep" / "down");
  writer.write(speed("a"));
  writer.write(speed("b", Status::kWrong));
  writer.write(precision("y"));
  writer.write_environment({{"schema", 1}, {"devices", {"cpu"}}});
  const Results results = read_results(folder_ / "deep" / "down");
  EXPECT_EQ(results.speed, (std::vector{speed("a"), speed("b", Status::kWrong)}));
  EXPECT_EQ(results.precision, std::vector{precision("y")});
  EXPECT_EQ(results.environment.at("devices"), nlohmann::json({"cpu"}));
  EXPECT_TRUE(results.problems.empty());
}

TEST_F(ResultsTest, NewRefusesAFolderWithResults) {
  { ResultsWriter(folder_).write(speed("a")); }
  EXPECT_EQ(error_of([&] { ResultsWriter writer(folder_); }),
            "folder " + folder_.string() + " holds the results of another run");
  EXPECT_EQ(read_results(folder_).speed.size(), 1u);
}

TEST_F(ResultsTest, ReplaceStartsAfresh) {
  {
    ResultsWriter writer(folder_);
    writer.write(speed("a"));
    writer.write_environment({{"schema", 1}});
  }
  { ResultsWriter(folder_, Mode::kReplace).write(speed("b")); }
  const Results results = read_results(folder_);
  EXPECT_EQ(results.speed, std::vector{speed("b")});
  EXPECT_TRUE(results.environment.is_null());
}

TEST_F(ResultsTest, ResumedRowsReplaceTheFailedOnesInTheirPlace) {
  {
    ResultsWriter writer(folder_);
    writer.write(speed("a", Status::kCrash));
    writer.write(speed("b"));
  }
  { ResultsWriter(folder_, Mode::kResume).write(speed("a")); }
  EXPECT_EQ(read_results(folder_).speed, (std::vector{speed("a"), speed("b")}));
}

TEST_F(ResultsTest, LinesThatCannotBeReadAreNamed) {
  {
    ResultsWriter writer(folder_);
    writer.write(speed("a"));
  }
  { std::ofstream(folder_ / kSpeedFile, std::ios::app) << "half,a\nhalf a li"; }
  EXPECT_EQ(error_of([&] { read_results(folder_); }),
            (folder_ / kSpeedFile).string() + ":3: got 2 cells, want 41");
  const Results results = read_results(folder_, OnProblem::kSkip);
  EXPECT_EQ(results.speed, std::vector{speed("a")});
  EXPECT_EQ(results.problems, (std::vector<std::string>{
                                  "speed.csv:3: got 2 cells, want 41",
                                  "speed.csv:4: the line is not whole: no line break at its end"}));
}

TEST_F(ResultsTest, CellsThatCannotBeReadAreNamed) {
  SpeedRecord newer = speed("b");
  newer.schema = kSchemaVersion + 1;
  {
    ResultsWriter writer(folder_);
    writer.write(speed("a"));
    writer.write(newer);
  }
  EXPECT_EQ(error_of([&] { read_results(folder_); }),
            (folder_ / kSpeedFile).string() +
                ":3: column \"schema\": got version 2, this program reads 1 to 1");
  EXPECT_EQ(read_results(folder_, OnProblem::kSkip).speed, std::vector{speed("a")});
}

TEST_F(ResultsTest, MissingFilesAreErrorsOrNothing) {
  EXPECT_EQ(error_of([&] { read_results(folder_); }),
            "cannot open " + (folder_ / kSpeedFile).string() + ": No such file or directory");
  { ResultsWriter writer(folder_); }
  fs::remove(folder_ / kPrecisionFile);
  const Results results = read_results(folder_);
  EXPECT_TRUE(results.precision.empty());
  EXPECT_TRUE(results.environment.is_null());
  { std::ofstream(folder_ / kEnvironmentFile) << "{"; }
  EXPECT_NE(error_of([&] { read_results(folder_); }), "no error");
}

TEST_F(ResultsTest, AFolderThatCannotBeMadeIsAnError) {
  { std::ofstream file(folder_); }
  EXPECT_EQ(error_of([&] { ResultsWriter writer(folder_); }),
            "cannot make folder " + folder_.string() + ": Not a directory");
  EXPECT_EQ(error_of([&] { ResultsWriter writer(folder_ / "below"); }),
            "cannot make folder " + (folder_ / "below").string() + ": Not a directory");
}

TEST_F(ResultsTest, PathsAreSeenFromTheCallersFolder) {
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(caller_folder(), fs::current_path());
  setenv("BUILD_WORKING_DIRECTORY", "/home/someone/repo", 1);
  EXPECT_EQ(caller_folder(), "/home/someone/repo");
  EXPECT_EQ(from_caller("out"), "/home/someone/repo/out");
  EXPECT_EQ(from_caller("../out"), "/home/someone/out");
  EXPECT_EQ(from_caller("/elsewhere"), "/elsewhere");
}

TEST_F(ResultsTest, DefaultFolderIsNewEachTime) {
  setenv("BUILD_WORKING_DIRECTORY", folder_.c_str(), 1);
  const fs::path first = default_output_folder();
  EXPECT_EQ(first.parent_path(), folder_ / "tigon-results");
  EXPECT_TRUE(
      std::regex_match(first.filename().string(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)")))
      << first;
  for (int i = 0; i < 3; ++i) {
    const fs::path next = default_output_folder();
    EXPECT_FALSE(fs::exists(next));
    ResultsWriter writer(next);
  }
}

}  // namespace
}  // namespace tigon::harness
