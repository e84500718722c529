// Writes what the workers report, as it comes.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/cli/plan.h"
#include "harness/console/progress.h"
#include "harness/process/supervisor.h"
#include "harness/record/results.h"

namespace tigon::harness {

class Recorder final : public JobSink {
 public:
  Recorder(ResultsWriter& results, Progress& progress, nlohmann::json environment);

  void on_hello(const std::string& device, const nlohmann::json& hello) override;
  void on_stage(const std::string& device, const Job& job, const std::string& stage) override;
  void on_row(const std::string& device, const Job& job, const nlohmann::json& row) override;
  void on_finished(const std::string& device, const Job& job, const Outcome& outcome) override;

  // Seconds that a job was thought to take, by device and id.
  using Weights = std::map<std::pair<std::string, std::string>, double>;
  void set_weights(Weights weights) { weights_ = std::move(weights); }
  // Rows of an earlier run that stand beside this one's.
  void keep(std::vector<SpeedRecord> rows) { records_ = std::move(rows); }
  // Writes what is known of the run so far.
  void write_environment();

  const std::vector<SpeedRecord>& records() const { return records_; }
  // Some jobs could not be started at all: the machine's fault. Empty: none.
  const std::string& spawn_failure() const { return spawn_failure_; }

 private:
  void add_roofs(const std::string& device, const nlohmann::json& roofs);

  ResultsWriter& results_;
  Progress& progress_;
  nlohmann::json environment_;
  Weights weights_;
  std::vector<SpeedRecord> records_;
  std::map<std::string, std::vector<SpeedRecord>> of_job_;  // of jobs that are under way, by device
  std::string spawn_failure_;
};

}  // namespace tigon::harness
