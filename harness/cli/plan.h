// What a command line comes to: for each device its cases, what each is thought to cost, and how
// much time each may take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/devices.h"
#include "harness/cli/options.h"
#include "harness/operator.h"
#include "harness/sweep/axis.h"

namespace tigon::harness {

struct PlannedJob {
  PlannedCase planned;
  double weight_s = 0;       // what it is thought to take
  double time_budget_s = 0;  // for its timing; 0 when it is verified only
};

struct DeviceJobs {
  ChosenDevice device;
  std::vector<PlannedJob> jobs;
};

// The seconds that a preset may take on one device; the planner divides them among the timed cases.
double preset_budget_s(Preset preset);

// Filters apply to all devices together. Throws UsageError (unknown name, nothing left).
std::vector<DeviceJobs> make_plan(const Options& options, const std::vector<Operator>& operators,
                                  const std::vector<ChosenDevice>& devices);

// The command that runs one case again.
std::string reproduce_command(std::string_view suite, const Options& options,
                              const std::string& case_id, const std::string& device);

}  // namespace tigon::harness
