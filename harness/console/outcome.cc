#include "harness/console/outcome.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tigon::harness {
namespace {

bool is_fused(const SpeedRecord& record) { return record.implementation == implementation::kFused; }

bool is_failed_baseline(const SpeedRecord& record) {
  return !is_fused(record) && exit_code({&record, 1}) != ExitCode::kFine;
}

void take(CaseOutcome& outcome, const SpeedRecord& record) {
  if (outcome.deciding == nullptr || (record.status != outcome.status() &&
                                      worst(record.status, outcome.status()) == record.status)) {
    outcome.deciding = &record;
  }
  if (record.pass != pass::kVerify) outcome.verify_only = false;
  if (!is_fused(record)) return;
  outcome.fused.push_back(&record);
  if (record.limit_used) {
    outcome.limit_used = std::max(outcome.limit_used.value_or(0), *record.limit_used);
  }
  if (record.verdict == verdict::kBound) outcome.bound = true;
}

}  // namespace

const SpeedRecord* CaseOutcome::row(std::string_view pass) const {
  const auto found = std::find_if(fused.begin(), fused.end(),
                                  [&](const SpeedRecord* record) { return record->pass == pass; });
  return found == fused.end() ? nullptr : *found;
}

std::vector<CaseOutcome> case_outcomes(const std::vector<SpeedRecord>& records) {
  std::vector<CaseOutcome> result;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const SpeedRecord& record : records) {
    if (!is_fused(record) && !is_failed_baseline(record)) continue;
    const auto [place, is_new] = places.try_emplace({record.case_id, record.device}, result.size());
    if (is_new) {
      CaseOutcome outcome;
      outcome.case_id = record.case_id;
      outcome.op = record.op;
      outcome.device = record.device;
      outcome.verify_only = true;
      result.push_back(std::move(outcome));
    }
    take(result[place->second], record);
  }
  return result;
}

}  // namespace tigon::harness
