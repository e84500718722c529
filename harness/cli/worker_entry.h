// The worker's half of the binary: `--worker --device=<device> --worker-fds=R,W`.
#pragma once

#include <string>
#include <vector>

#include "harness/operator.h"

namespace tigon::harness {

// A device that only says which devices there are: the parent itself never touches one.
inline constexpr const char* kProbeDevice = "probe";

bool is_worker_call(const std::vector<std::string>& arguments);

// Answers requests until told to quit; returns the process's exit code. The hello message carries
// what worker_environment() says of the device. `--mutants=<library>` opens the broken twins.
int worker_entry(const std::vector<std::string>& arguments, const std::vector<Operator>& operators);

}  // namespace tigon::harness
