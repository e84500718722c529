#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "harness/cli/devices.h"
#include "harness/cli/plan.h"
#include "harness/cli/recorder.h"
#include "harness/cli/resume.h"
#include "harness/cli/verbs.h"
#include "harness/console/table.h"
#include "harness/console/terminal.h"
#include "harness/environment/run_facts.h"
#include "harness/process/devices.h"
#include "harness/worker/request.h"

namespace tigon::harness {
namespace {

// A case may be silent for the timeout; all of it may take this many times as long.
constexpr double kTotalTimeouts = 10;

DevicePlan device_plan(const DeviceJobs& device, const Call& call) {
  DevicePlan plan;
  plan.device = device.device.id;
  plan.command.argv = {current_executable(), "--worker", "--device=" + device.device.id};
  plan.exclusive = device.device.kind == DeviceKind::kCpu;
  for (const PlannedJob& job : device.jobs) {
    CaseRequest request;
    request.c = job.planned.c;
    request.timed = job.planned.timed;
    request.seed = call.options.seed;
    request.time_budget_s = job.time_budget_s;
    request.repetitions = call.options.benchmark.repetitions.value_or(0);
    request.reproduce =
        reproduce_command(call.suite, call.options, job.planned.c.id(), plan.device);
    request.started_at = utc_now();
    request.binary_digest = binary_digest();
    request.git_commit = git_commit();
    plan.jobs.push_back({job.planned.c.id(), to_json(request), call.options.timeout_s,
                         kTotalTimeouts * call.options.timeout_s});
  }
  return plan;
}

ProgressOptions progress_options() {
  ProgressOptions options;
  options.terminal = is_terminal(STDERR_FILENO);
  options.colour = wants_colour(STDERR_FILENO);
  options.width = terminal_width(STDERR_FILENO);
  return options;
}

TableOptions table_options(const std::vector<DeviceJobs>& plan, const ResultsWriter& results) {
  TableOptions options;
  options.colour = wants_colour(STDOUT_FILENO);
  for (const DeviceJobs& device : plan) {
    options.device_names.emplace_back(device.device.id, device.device.name);
  }
  options.folder = results.folder();
  return options;
}

// Takes what is finished out of the plan and returns its rows. The environment becomes the earlier
// run's, which those rows were made in, with this run beside it.
std::vector<SpeedRecord> resume(std::vector<DeviceJobs>& plan, const std::filesystem::path& folder,
                                uint64_t seed, nlohmann::json& environment) {
  const Results earlier = read_results(folder, OnProblem::kSkip);
  for (const std::string& problem : earlier.problems) {
    fmt::print(stderr, "{}: not read, its case is run again\n", problem);
  }
  std::vector<SpeedRecord> kept = take_finished(plan, earlier.speed, seed, binary_digest());
  if (earlier.environment.is_object()) {
    nlohmann::json before = earlier.environment;
    before["resumed"].push_back(std::move(environment));
    environment = std::move(before);
  }
  size_t left = 0;
  for (const DeviceJobs& device : plan) left += device.jobs.size();
  fmt::print(stderr, "resumed {}: {} cases are left to run\n", folder.string(), left);
  return kept;
}

}  // namespace

ExitCode run_cases(const Call& call) {
  if (call.options.dry_run || call.options.benchmark.list_tests) return list_cases(call);
  const nlohmann::json facts = probe_devices();
  auto plan = make_plan(call.options, call.operators, choose_devices(call.options.devices, facts));

  nlohmann::json environment = run_facts(call.command_line);
  environment["preset"] = to_string(call.options.preset);
  environment["seed"] = call.options.seed;
  const std::filesystem::path folder =
      call.options.out ? from_caller(*call.options.out) : default_output_folder();
  std::vector<SpeedRecord> kept;
  if (call.options.resume) kept = resume(plan, folder, call.options.seed, environment);
  ResultsWriter results(
      folder, call.options.resume ? ResultsWriter::Mode::kResume : ResultsWriter::Mode::kNew);

  std::vector<DevicePlan> plans;
  Recorder::Weights weights;
  int64_t cases = 0;
  double total_weight = 0;
  for (const DeviceJobs& device : plan) {
    if (device.jobs.empty()) continue;  // all of them stand
    plans.push_back(device_plan(device, call));
    for (const PlannedJob& job : device.jobs) {
      weights[{device.device.id, job.planned.c.id()}] = job.weight_s;
      total_weight += job.weight_s;
      ++cases;
    }
  }
  StopFlag stop;
  const StopOnSignals signals(stop);
  Progress progress(std::cerr, cases, total_weight, progress_options());
  Recorder recorder(results, progress, std::move(environment));
  recorder.set_weights(std::move(weights));
  recorder.keep(std::move(kept));
  const std::vector<RunSummary> summaries = run_on_devices(plans, recorder, stop);
  progress.close();
  recorder.write_environment();

  const TableOptions options = table_options(plan, results);
  std::cout << render_table(recorder.records(), options)
            << render_summary(recorder.records(), options) << std::flush;
  if (call.options.benchmark.any()) {
    report_as_google_benchmark(call.options.benchmark, recorder.records(), std::cout);
  }

  ExitCode code = exit_code(recorder.records());
  int64_t finished = 0;
  bool stopped = false;
  for (const RunSummary& summary : summaries) {
    finished += summary.finished;
    stopped = stopped || summary.stopped;
  }
  if (stopped) {
    fmt::print(stderr, "stopped by signal {}: {} of {} cases were run\n", signals.received(),
               finished, cases);
    code = worst(code, ExitCode::kNotMeasured);
  }
  if (!recorder.spawn_failure().empty()) {
    fmt::print(stderr, "no worker could be started: {}\n", recorder.spawn_failure());
    code = worst(code, ExitCode::kUsage);
  }
  return code;
}

}  // namespace tigon::harness
