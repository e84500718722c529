#include "harness/cli/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace tigon::harness {
namespace {

// Verification moves about this many bytes a second, all its runs and judgements together; seen on
// two cores and on an H200. The estimate of the time left corrects it as cases finish.
constexpr double kVerifyBytesPerSecondCpu = 4e7;
constexpr double kVerifyBytesPerSecondCuda = 4e9;
constexpr double kVerifyOverheadSeconds = 0.03;
// The rest goes to verification and, on a CPU, to measuring the roofs.
constexpr double kShareForTiming = 0.45;
constexpr double kMinTimingSeconds = 0.6, kMaxTimingSeconds = 12;

double verify_seconds(const Operator& op, const Case& c, DeviceKind kind) {
  const Cost cost = op.cost(c);
  const auto bytes = static_cast<double>(cost.forward.bytes_read + cost.backward.bytes_written);
  return kVerifyOverheadSeconds +
         bytes / (kind == DeviceKind::kCpu ? kVerifyBytesPerSecondCpu : kVerifyBytesPerSecondCuda);
}

bool has_benchmark(const GoogleBenchmarkFlags& flags, const Operator& op, const Case& c) {
  const std::vector<std::string> names = benchmark_names(c, op.offers_library(c));
  return std::ranges::any_of(
      names, [&](const std::string& name) { return matches_benchmark_filter(flags, name); });
}

std::vector<PlannedCase> all_cases(const std::vector<Operator>& operators, Preset preset,
                                   DeviceKind kind) {
  std::vector<PlannedCase> cases;
  for (const Operator& op : operators) {
    const auto more = expand(op.name, op.options, op.sweeps, preset, kind);
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

// Names are checked against every preset and device, so that a filter that is only empty here is
// told apart from a misspelt one.
Vocabulary vocabulary(const std::vector<Operator>& operators) {
  std::vector<PlannedCase> cases;
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    const auto more = all_cases(operators, Preset::kFull, kind);
    cases.insert(cases.end(), more.begin(), more.end());
  }
  Vocabulary known = Vocabulary::of(cases);
  for (const Operator& op : operators) known.add_operator(op.name);
  return known;
}

bool wanted(const PlannedCase& planned, const Options& options, const Operator& op) {
  const bool timed_only = options.verb == Verb::kBench || options.benchmark.any();
  if (timed_only && !planned.timed) return false;
  return !planned.timed || has_benchmark(options.benchmark, op, planned.c);
}

void divide_budget(DeviceJobs& device, const Options& options,
                   const std::vector<Operator>& operators) {
  const auto timed = static_cast<double>(
      std::ranges::count_if(device.jobs, [](const PlannedJob& job) { return job.planned.timed; }));
  const double share = preset_budget_s(options.preset) * kShareForTiming / std::max(timed, 1.0);
  for (PlannedJob& job : device.jobs) {
    const Operator& op = find_operator(operators, job.planned.c.op);
    job.weight_s = verify_seconds(op, job.planned.c, device.device.kind);
    if (!job.planned.timed) continue;
    job.time_budget_s = std::clamp(share, kMinTimingSeconds, kMaxTimingSeconds);
    job.weight_s += job.time_budget_s;
  }
}

}  // namespace

double preset_budget_s(Preset preset) {
  switch (preset) {
    case Preset::kSmoke:
      return 20;
    case Preset::kDefault:
      return 240;
    case Preset::kFull:
      return 3600;
  }
  throw std::logic_error("unknown preset");
}

std::vector<DeviceJobs> make_plan(const Options& options, const std::vector<Operator>& operators,
                                  const std::vector<ChosenDevice>& devices) {
  const Vocabulary known = vocabulary(operators);
  std::vector<DeviceJobs> plan;
  std::string nothing;
  try {
    for (const ChosenDevice& device : devices) {
      const std::vector<PlannedCase> cases = all_cases(operators, options.preset, device.kind);
      const Filter filter(options.filter, known);
      DeviceJobs jobs{device, {}};
      for (const PlannedCase& planned : cases) {
        if (!filter.matches(planned.c)) continue;
        if (!wanted(planned, options, find_operator(operators, planned.c.op))) continue;
        jobs.jobs.push_back({planned, 0, 0});
        if (options.verb == Verb::kVerify) jobs.jobs.back().planned.timed = false;
      }
      if (jobs.jobs.empty()) {
        nothing = fmt::format("none of the {} cases of preset {} on {} is left", cases.size(),
                              to_string(options.preset), device.id);
      }
      divide_budget(jobs, options, operators);
      plan.push_back(std::move(jobs));
    }
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  std::erase_if(plan, [](const DeviceJobs& device) { return device.jobs.empty(); });
  if (plan.empty()) throw UsageError(nothing + "; `list` shows them, --preset=full has more");
  return plan;
}

std::string reproduce_command(std::string_view suite, const Options& options,
                              const std::string& case_id, const std::string& device) {
  // The bundle's launcher says how it is called; else it was Bazel.
  const char* launcher = std::getenv("TIGON_LAUNCHER");
  const std::string program =
      launcher != nullptr ? launcher : fmt::format("bazel run //suites:{} --", suite);
  return fmt::format("{} {} '{}' --device={} --seed={} --preset={}", program,
                     to_string(options.verb), case_id, device, options.seed,
                     to_string(options.preset));
}

}  // namespace tigon::harness
