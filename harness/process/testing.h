// What the tests of this folder share.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "harness/process/worker_process.h"

namespace tigon::harness {

// Under `bazel test` in the runfiles, else beside the test.
inline std::string synthetic_worker() {
  namespace fs = std::filesystem;
  const char* sources = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  if (sources != nullptr && workspace != nullptr) {
    const fs::path path = fs::path(sources) / workspace / "harness/process/synthetic_worker";
    if (fs::exists(path)) return path.string();
  }
  return (fs::path(current_executable()).parent_path() / "synthetic_worker").string();
}

inline int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// Also false for a child that died and was not reaped, by us or whoever inherited it.
inline bool is_alive(pid_t pid) {
  const std::string stat = "/proc/" + std::to_string(pid) + "/stat";
  FILE* file = std::fopen(stat.c_str(), "re");
  if (file == nullptr) return false;
  char state = 'Z';
  const int read = std::fscanf(file, "%*d (%*[^)]) %c", &state);
  std::fclose(file);
  return read == 1 && state != 'Z' && state != 'X';
}

inline bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) == 0 || errno != ECHILD; }

}  // namespace tigon::harness
