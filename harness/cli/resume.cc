#include "harness/cli/resume.h"

#include <map>
#include <utility>

namespace tigon::harness {
namespace {

using CaseOnDevice = std::pair<std::string, std::string>;
using RowsOfCase = std::map<CaseOnDevice, std::vector<SpeedRecord>>;

bool is_finished(const std::vector<SpeedRecord>& rows, bool timed, uint64_t seed,
                 std::string_view binary_digest) {
  bool has_figures = false;
  for (const SpeedRecord& row : rows) {
    if (row.seed != seed || row.binary_digest != binary_digest) return false;
    if (row.implementation != implementation::kFused) continue;
    if (!is_fine(row.status)) return false;
    // The rows of a case are written at once, the step's last.
    has_figures = has_figures || (row.pass == pass::kStep && row.time_us);
  }
  return has_figures || !timed;
}

}  // namespace

std::vector<SpeedRecord> take_finished(std::vector<DeviceJobs>& plan,
                                       const std::vector<SpeedRecord>& earlier, uint64_t seed,
                                       std::string_view binary_digest) {
  RowsOfCase rows;
  for (const SpeedRecord& record : earlier) rows[{record.case_id, record.device}].push_back(record);

  std::vector<SpeedRecord> kept;
  for (DeviceJobs& device : plan) {
    std::erase_if(device.jobs, [&](const PlannedJob& job) {
      const auto found = rows.find({job.planned.c.id(), device.device.id});
      if (found == rows.end()) return false;
      if (!is_finished(found->second, job.planned.timed, seed, binary_digest)) return false;
      kept.insert(kept.end(), found->second.begin(), found->second.end());
      return true;
    });
  }
  return kept;
}

}  // namespace tigon::harness
