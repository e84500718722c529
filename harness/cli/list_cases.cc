#include <fmt/format.h>

#include <cstdio>

#include "harness/cli/devices.h"
#include "harness/cli/plan.h"
#include "harness/cli/verbs.h"
#include "harness/console/format.h"

namespace tigon::harness {

ExitCode list_cases(const Call& call) {
  const auto plan = make_plan(call.options, call.operators,
                              choose_devices(call.options.devices, probe_devices()));
  for (const DeviceJobs& device : plan) {
    double seconds = 0;
    int timed = 0;
    fmt::print("{} ({})\n", device.device.id, device.device.name);
    for (const PlannedJob& job : device.jobs) {
      const Case& c = job.planned.c;
      seconds += job.weight_s;
      timed += job.planned.timed ? 1 : 0;
      if (call.options.benchmark.list_tests) {
        const Operator& op = find_operator(call.operators, c.op);
        for (const std::string& name : benchmark_names(c, op.offers_library(c))) {
          if (matches_benchmark_filter(call.options.benchmark, name)) fmt::print("{}\n", name);
        }
        continue;
      }
      fmt::print("  {}  {}\n", job.planned.timed ? "timed " : "verify", c.id());
    }
    fmt::print("{} cases, {} of them timed, about {}\n", device.jobs.size(), timed,
               format_duration(seconds));
  }
  return ExitCode::kFine;
}

}  // namespace tigon::harness
