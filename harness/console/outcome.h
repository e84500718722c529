// What became of each case: its rows drawn together, for table and summary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/record/record.h"

namespace tigon::harness {

struct CaseOutcome {
  std::string case_id;
  std::string op;
  std::string device;
  // The rows of the fused implementation, in their order. Point into the records given.
  std::vector<const SpeedRecord*> fused;
  // The row that decides the status: the worst of the fused rows and of those baseline rows that
  // count as failures (see exit_code in record.h).
  const SpeedRecord* deciding = nullptr;
  bool verify_only = false;  // there was nothing to time
  std::optional<double> limit_used;
  bool bound = false;  // judged by floor and ceiling alone

  Status status() const { return deciding->status; }
  // Verified, and found right; what is noisy is right all the same.
  bool right() const { return status() == Status::kOk || status() == Status::kNoisy; }
  // The fused row of a pass, or null.
  const SpeedRecord* row(std::string_view pass) const;
};

// One for each case and device, in order of first appearance. Rows of baselines alone, without a
// failure, make no case.
std::vector<CaseOutcome> case_outcomes(const std::vector<SpeedRecord>& records);

}  // namespace tigon::harness
