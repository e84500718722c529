// Sweeps on several devices of one machine.
#pragma once

#include <vector>

#include "harness/process/supervisor.h"

namespace tigon::harness {

// Exclusive plans first, each alone, in order; then all others at once, a thread each. A sink that
// throws raises `stop`. Summaries in the order of the plans.
std::vector<RunSummary> run_on_devices(const std::vector<DevicePlan>& plans, JobSink& sink,
                                       StopFlag& stop, const SupervisorOptions& options = {});

}  // namespace tigon::harness
