// The table that a person reads at a glance when a run ends, made from records alone.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/record/record.h"

namespace tigon::harness {

struct TableOptions {
  bool colour = false;
  // How a device is called beside its id, e.g. {"cuda:0", "NVIDIA H200"}.
  std::vector<std::pair<std::string, std::string>> device_names = {};
  // Where the files lie; named in the closing lines when set.
  std::optional<std::filesystem::path> folder = {};
};

// One block per operator and device. A timed case is one line of the fused implementation: verdict
// and share of the limit used, per pass the time, its share of the roof and the speed against
// eager, and peak memory against eager. A case that failed shows its status and reason instead.
// Cases that are verified only are summed up in one line, and listed when not right.
std::string render_table(const std::vector<SpeedRecord>& records, const TableOptions& options = {});

// The closing lines: cases right, wrong and not measured; the geometric mean of the speed-ups, by
// operator and pass; where the files lie.
std::string render_summary(const std::vector<SpeedRecord>& records,
                           const TableOptions& options = {});

}  // namespace tigon::harness
