#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/cli/devices.h"
#include "harness/cli/plan.h"
#include "harness/cli/verbs.h"
#include "harness/console/terminal.h"
#include "harness/process/supervisor.h"
#include "harness/worker/request.h"

namespace tigon::harness {
namespace {

constexpr std::string_view kNamespace = "tigon_mutants::";
constexpr std::string_view kLibrary = "libtigon_mutants.so";

// Beside the binary (a bundle), or where Bazel puts it.
std::string mutant_library() {
  const std::filesystem::path binary = current_executable();
  const std::vector<std::filesystem::path> places = {
      binary.parent_path() / kLibrary,
      binary.parent_path().parent_path() / "kernels" / kLibrary,
      binary.string() + ".runfiles/tigon/kernels/" + std::string(kLibrary),
  };
  for (const auto& place : places) {
    if (std::filesystem::exists(place)) return place.string();
  }
  throw UsageError(fmt::format("{} was not found beside {}", kLibrary, binary.string()));
}

// The dispatcher operators tigon_mutants::<operator>.<fault> of the chosen operators.
std::vector<std::string> mutants_of(const std::string& op) {
  std::vector<std::string> names;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name == std::string(kNamespace) + op)
      names.push_back(name.name + "." + name.overload_name);
  }
  std::ranges::sort(names);
  return names;
}

struct Finding {
  std::string mutant;  // without the namespace
  bool caught = false;
  std::string case_id, reason;
};

class Findings final : public JobSink {
 public:
  void on_hello(const std::string&, const nlohmann::json&) override {}
  void on_stage(const std::string&, const Job&, const std::string&) override {}
  void on_row(const std::string&, const Job&, const nlohmann::json& row) override {
    case_id_ = row.at("record").at("case");
  }
  void on_finished(const std::string&, const Job& job, const Outcome& outcome) override {
    Finding finding{job.id, false, std::move(case_id_), outcome.reason};
    case_id_.clear();
    if (outcome.kind == OutcomeKind::kDone) {
      finding.caught = outcome.status == "caught";
    } else {
      // A mutant that brings its process down is rejected by the case that it did so on.
      finding.caught = outcome.kind != OutcomeKind::kSpawnFailed;
      finding.case_id = outcome.last_stage;
    }
    all.push_back(std::move(finding));
  }
  std::vector<Finding> all;

 private:
  std::string case_id_;  // that rejected the mutant at hand
};

void print_findings(const std::vector<Finding>& findings, const std::string& device) {
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.mutant.size());
  fmt::print("Mutants on {}\n", device);
  const bool colour = wants_colour(1);
  for (const Finding& finding : findings) {
    fmt::print("  {:<{}}  {}  {}\n", finding.mutant, width,
               finding.caught ? paint("caught  ", Colour::kGreen, colour)
                              : paint("SURVIVED", Colour::kRed, colour),
               finding.caught ? fmt::format("by {}: {}", finding.case_id, finding.reason)
                              : finding.reason);
  }
}

}  // namespace

ExitCode run_mutants(const Call& call) {
  const std::string library = mutant_library();
  // Registers the operators, so that they can be listed; the workers open it for themselves.
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    throw UsageError(fmt::format("the mutants cannot be opened: {}", dlerror()));
  }
  const auto plan = make_plan(call.options, call.operators,
                              choose_devices(call.options.devices, probe_devices()));
  ExitCode code = ExitCode::kFine;
  StopFlag stop;
  const StopOnSignals signals(stop);
  for (const DeviceJobs& device : plan) {
    std::map<std::string, std::vector<Case>> cases;  // verified only: small, and many of them
    for (const PlannedJob& job : device.jobs) {
      if (!job.planned.timed) cases[job.planned.c.op].push_back(job.planned.c);
    }
    DevicePlan jobs;
    jobs.device = device.device.id;
    jobs.command.argv = {current_executable(), "--worker", "--device=" + device.device.id,
                         "--mutants=" + library};
    for (const Operator& op : call.operators) {
      if (!cases.contains(op.name)) continue;
      const std::vector<std::string> mutants = mutants_of(op.name);
      if (mutants.empty()) throw UsageError(fmt::format("operator {} has no mutants", op.name));
      for (const std::string& mutant : mutants) {
        const MutantRequest request{op.name, mutant, cases[op.name], call.options.seed};
        jobs.jobs.push_back(
            {mutant.substr(kNamespace.size()), to_json(request), call.options.timeout_s, 0});
      }
    }
    if (jobs.jobs.empty()) {
      throw UsageError(fmt::format(
          "mutants are tried on the cases that are verified only; of those none is left on {}",
          device.device.id));
    }
    Findings findings;
    run_jobs(jobs, findings, stop);
    print_findings(findings.all, device.device.id);
    const auto survived =
        std::ranges::count_if(findings.all, [](const Finding& f) { return !f.caught; });
    fmt::print("{} mutants, {} caught, {} survived\n", findings.all.size(),
               findings.all.size() - static_cast<size_t>(survived), survived);
    if (survived > 0) code = worst(code, ExitCode::kWrong);
    if (findings.all.size() != jobs.jobs.size()) code = worst(code, ExitCode::kNotMeasured);
  }
  return code;
}

}  // namespace tigon::harness
