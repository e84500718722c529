// Which devices a run uses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/sweep/axis.h"

namespace tigon::harness {

struct ChosenDevice {
  std::string id;    // "cpu", "cuda:0"
  std::string name;  // "NVIDIA H200"
  DeviceKind kind = DeviceKind::kCpu;
};

// What a probe worker says of this machine (environment/device_facts.h). Throws UsageError when no
// worker can be started.
nlohmann::json probe_devices();

// `asked` as on the command line: cpu, cuda (every GPU), cuda:N, all; nothing: every GPU, else the
// CPU. Throws UsageError that names what was asked and what there is.
std::vector<ChosenDevice> choose_devices(const std::vector<std::string>& asked,
                                         const nlohmann::json& facts);

}  // namespace tigon::harness
