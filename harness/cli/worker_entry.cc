#include "harness/cli/worker_entry.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "harness/environment/device_facts.h"
#include "harness/process/memory.h"
#include "harness/process/worker_main.h"
#include "harness/record/exit_code.h"
#include "harness/worker/case_runner.h"

namespace tigon::harness {
namespace {

std::string value_of(const std::vector<std::string>& arguments, const std::string& flag) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with(flag + "=")) return argument.substr(flag.size() + 1);
  }
  return "";
}

void open_mutants(const std::string& library) {
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    throw std::runtime_error(fmt::format("the mutants cannot be opened: {}", dlerror()));
  }
}

}  // namespace

bool is_worker_call(const std::vector<std::string>& arguments) {
  return !arguments.empty() && arguments.front() == "--worker";
}

int worker_entry(const std::vector<std::string>& arguments,
                 const std::vector<Operator>& operators) {
  const auto fds = parse_worker_fds(value_of(arguments, "--worker-fds"));
  if (!fds) {
    std::fputs("--worker is for the program's own use: it needs --worker-fds=R,W\n", stderr);
    return static_cast<int>(ExitCode::kUsage);
  }
  // A core of a process with LibTorch takes minutes to write, with the pipes open meanwhile.
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const std::string device_name = value_of(arguments, "--device");
  if (device_name == kProbeDevice) {
    return worker_loop(fds->in, fds->out, all_device_facts(), [](const auto&, WorkerChannel&) {
      return DoneReply{"error", "a probe takes no cases", false};
    });
  }
  const c10::Device device(device_name);
  if (device.is_cpu()) limit_memory_to_available();
  const std::string mutants = value_of(arguments, "--mutants");
  if (!mutants.empty()) open_mutants(mutants);
  CaseRunner runner(operators, device);
  return worker_loop(fds->in, fds->out, device_facts(device),
                     [&runner](const nlohmann::json& request, WorkerChannel& channel) {
                       return is_mutant_request(request)
                                  ? runner.run_mutant(mutant_request_from_json(request), channel)
                                  : runner.run(case_request_from_json(request), channel);
                     });
}

}  // namespace tigon::harness
