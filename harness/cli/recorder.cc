#include "harness/cli/recorder.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/console/format.h"
#include "harness/environment/run_facts.h"
#include "harness/worker/case_row.h"
#include "harness/worker/request.h"

namespace tigon::harness {
namespace {

Status status_of(const Outcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::kDone:
      return Status::kError;
    case OutcomeKind::kCrash:
    case OutcomeKind::kSpawnFailed:
      return Status::kCrash;
    case OutcomeKind::kTimeout:
      return Status::kTimeout;
    case OutcomeKind::kOom:
      return Status::kOom;
  }
  return Status::kError;
}

// "SIGSEGV"; "" for none.
std::string signal_name(int signal) {
  if (signal == 0) return "";
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

// The one row of a case whose worker could not write it itself.
SpeedRecord row_of_outcome(const CaseRequest& request, const std::string& device,
                           const Outcome& outcome) {
  SpeedRecord record = case_row(request, device);
  record.status = status_of(outcome);
  record.reason = outcome.reason;
  record.stage = outcome.last_stage;
  record.signal = signal_name(outcome.signal);
  record.stderr_tail = outcome.stderr_tail;
  return record;
}

// "right 41%  31.2 us  5.2x", or what went wrong.
std::string one_line(const std::vector<SpeedRecord>& rows) {
  Status status = Status::kOk;
  std::string text, reason;
  for (const SpeedRecord& row : rows) {
    if (row.implementation != implementation::kFused) continue;
    status = worst(status, row.status);
    if (reason.empty()) reason = row.reason;
    if (text.empty() && row.limit_used) {
      text = fmt::format("{} {}", row.verdict, format_share(*row.limit_used));
    }
    if (!row.time_us) continue;
    text += fmt::format("  {} {}", row.pass, format_time_us(*row.time_us));
    if (row.speedup_vs_eager) text += " " + format_ratio(*row.speedup_vs_eager);
  }
  if (is_fine(status)) return text.empty() ? std::string(to_string(status)) : text;
  return fmt::format("{}: {}", to_string(status), reason);
}

}  // namespace

Recorder::Recorder(ResultsWriter& results, Progress& progress, nlohmann::json environment)
    : results_(results), progress_(progress), environment_(std::move(environment)) {}

void Recorder::on_hello(const std::string& device, const nlohmann::json& hello) {
  environment_["devices"][device] = hello;
  write_environment();
}

void Recorder::on_stage(const std::string& /*device*/, const Job& job, const std::string& stage) {
  progress_.stage(job.id, stage);
}

void Recorder::on_row(const std::string& device, const Job& /*job*/, const nlohmann::json& row) {
  const std::string file = row.at("file");
  const nlohmann::json& record = row.at("record");
  if (file == "roofs") {
    add_roofs(device, record);
  } else if (file == "precision") {
    results_.write(record.get<PrecisionRecord>());
  } else {
    of_job_[device].push_back(record.get<SpeedRecord>());
    results_.write(of_job_[device].back());
  }
}

void Recorder::on_finished(const std::string& device, const Job& job, const Outcome& outcome) {
  std::vector<SpeedRecord> rows = std::move(of_job_[device]);
  of_job_[device].clear();
  if (outcome.kind != OutcomeKind::kDone || rows.empty()) {
    rows.push_back(row_of_outcome(case_request_from_json(job.request), device, outcome));
    results_.write(rows.back());
  }
  if (outcome.kind == OutcomeKind::kSpawnFailed) spawn_failure_ = outcome.reason;
  records_.insert(records_.end(), rows.begin(), rows.end());
  const auto weight = weights_.find({device, job.id});
  progress_.finish(job.id, weight == weights_.end() ? 0 : weight->second, one_line(rows));
}

// Each time all that the worker measured; one that was started anew begins from nothing.
void Recorder::add_roofs(const std::string& device, const nlohmann::json& roofs) {
  nlohmann::json& known = environment_["roofs"][device];
  if (known.is_null()) known = nlohmann::json::array();
  for (const nlohmann::json& roof : roofs) {
    const auto same = std::ranges::find_if(known, [&roof](const nlohmann::json& other) {
      return std::ranges::all_of(std::array{"bytes", "reads", "writes", "dtype"}, [&](auto key) {
        return roof.value(key, nlohmann::json()) == other.value(key, nlohmann::json());
      });
    });
    if (same == known.end()) {
      known.push_back(roof);
    } else {
      *same = roof;
    }
  }
  write_environment();
}

void Recorder::write_environment() {
  environment_["written_at"] = utc_now();
  results_.write_environment(environment_);
}

}  // namespace tigon::harness
