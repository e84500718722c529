// What the parent knows of a run without touching a device.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tigon::harness {

// UTC, ISO 8601: 2026-03-01T12:00:00Z.
std::string utc_now();

// Hash of the running binary's bytes: two rows with one digest come from the same code.
std::string binary_digest();

// The commit that the binary was built from, "-dirty" behind it when files differed: what the
// bundle says (TIGON_GIT_COMMIT), else that of the checkout under `bazel run`; "" where neither is
// known.
std::string git_commit();

// Compiler, LibTorch and CUDA that the binary was built with, command line, commit, digest, host.
nlohmann::json run_facts(const std::vector<std::string>& command_line);

}  // namespace tigon::harness
