// Going on with a run that was stopped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/plan.h"
#include "harness/record/record.h"

namespace tigon::harness {

// Takes the jobs out of `plan` whose rows stand in `earlier`: the same case, device, seed and
// binary, nothing red, and, where the case is timed, with figures. Returns the rows that stand; all
// others (failed, half-written, of another binary) are left over to be run again.
std::vector<SpeedRecord> take_finished(std::vector<DeviceJobs>& plan,
                                       const std::vector<SpeedRecord>& earlier, uint64_t seed,
                                       std::string_view binary_digest);

}  // namespace tigon::harness
