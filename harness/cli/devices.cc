#include "harness/cli/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/options.h"
#include "harness/cli/worker_entry.h"
#include "harness/process/worker_process.h"

namespace tigon::harness {
namespace {

constexpr double kProbeSeconds =
    120;  // a CUDA driver that starts up on a large machine takes its time

std::vector<ChosenDevice> gpus_of(const nlohmann::json& facts) {
  std::vector<ChosenDevice> gpus;
  for (const auto& gpu : facts.at("cuda")) {
    gpus.push_back({gpu.at("device"), gpu.at("name"), DeviceKind::kCuda});
  }
  return gpus;
}

std::string what_there_is(const nlohmann::json& facts) {
  std::string text = "cpu";
  for (const ChosenDevice& gpu : gpus_of(facts)) text += ", " + gpu.id;
  if (facts.contains("cuda_error")) {
    text += fmt::format(" (no GPU: {})", facts.at("cuda_error").get<std::string>());
  }
  return text;
}

}  // namespace

nlohmann::json probe_devices() {
  WorkerProcess worker(
      {{current_executable(), "--worker", fmt::format("--device={}", kProbeDevice)}, {}});
  const ReadResult result = worker.read_message(deadline_after(kProbeSeconds));
  if (result.kind == ReadResult::Kind::kMessage && result.message.contains("hello")) {
    return result.message.at("hello");
  }
  const std::string tail = worker.output_tail();
  throw UsageError(fmt::format("the devices of this machine could not be asked for: {}",
                               tail.empty() ? "the worker gave no answer" : tail));
}

std::vector<ChosenDevice> choose_devices(const std::vector<std::string>& asked,
                                         const nlohmann::json& facts) {
  const ChosenDevice cpu{"cpu", facts.at("cpu").at("name"), DeviceKind::kCpu};
  const std::vector<ChosenDevice> gpus = gpus_of(facts);
  if (asked.empty()) return gpus.empty() ? std::vector{cpu} : gpus;

  std::vector<ChosenDevice> chosen;
  const auto add = [&chosen](const ChosenDevice& device) {
    if (std::ranges::none_of(chosen, [&](const auto& c) { return c.id == device.id; })) {
      chosen.push_back(device);
    }
  };
  for (const std::string& name : asked) {
    bool known = name == "cpu" || name == "all";
    if (known) add(cpu);
    for (const ChosenDevice& gpu : gpus) {
      if (name != "all" && name != "cuda" && name != gpu.id) continue;
      known = true;
      add(gpu);
    }
    if (!known) {
      throw UsageError(
          fmt::format("--device is \"{}\", expected cpu, cuda, cuda:N or all; here: {}", name,
                      what_there_is(facts)));
    }
  }
  return chosen;
}

}  // namespace tigon::harness
