// What the tests of the supervisor share.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/process/supervisor.h"
#include "harness/process/testing.h"

namespace tigon::harness {

using nlohmann::json;

// Writes down what it is told; a test may act in between.
class Notebook : public JobSink {
 public:
  struct Finished {
    std::string id;
    Outcome outcome;
  };

  void on_hello(const std::string& device, const json&) override {
    log.push_back(device + " hello");
  }
  void on_stage(const std::string&, const Job& job, const std::string& stage) override {
    if (act_on_stage) act_on_stage(job, stage);
  }
  void on_row(const std::string&, const Job& job, const json& row) override {
    rows[job.id].push_back(row);
    const json& record = row.at("record");
    if (record.contains("pid")) pid = std::stoi(record["pid"].get<std::string>());
    if (record.contains("child")) child = std::stoi(record["child"].get<std::string>());
  }
  void on_finished(const std::string& device, const Job& job, const Outcome& outcome) override {
    log.push_back(device + " " + job.id);
    finished.push_back({job.id, outcome});
    if (act_on_finished) act_on_finished(job);
  }

  int hellos() const {
    return static_cast<int>(std::count_if(log.begin(), log.end(), [](const std::string& line) {
      return line.find("hello") != std::string::npos;
    }));
  }

  std::vector<std::string> log;
  std::vector<Finished> finished;
  std::map<std::string, std::vector<json>> rows;
  pid_t pid = 0;
  pid_t child = 0;
  std::function<void(const Job&, const std::string&)> act_on_stage;
  std::function<void(const Job&)> act_on_finished;
};

inline Job job(const std::string& what, double timeout_s = 20, double total_timeout_s = 0) {
  return {what, {{"do", what}}, timeout_s, total_timeout_s};
}

inline DevicePlan plan_of(std::vector<Job> jobs, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), synthetic_worker());
  return {"cpu", {arguments, {}}, std::move(jobs), false};
}

// No test may leave a process or a descriptor behind.
class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tigon_supervisor_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    descriptors_ = open_descriptors();
    options_.kill_grace_s = 0.1;
    // Another process on this machine may run out of memory meanwhile.
    options_.oom_kill_count = [] { return 0; };
  }
  void TearDown() override {
    EXPECT_EQ(open_descriptors(), descriptors_);
    EXPECT_FALSE(has_children());
    std::filesystem::remove_all(folder_);
  }

  StopFlag stop_;
  SupervisorOptions options_;
  Notebook notebook_;
  RunSummary summary_;
  std::filesystem::path folder_;
  int descriptors_ = 0;
};

}  // namespace tigon::harness
