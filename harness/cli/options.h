// What the command line asks for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/google_benchmark.h"
#include "harness/sweep/axis.h"
#include "harness/sweep/filter.h"

namespace tigon::harness {

enum class Verb { kRun, kList, kVerify, kBench, kMutants };
std::string_view to_string(Verb verb);

struct Options {
  Verb verb = Verb::kRun;
  FilterText filter;
  std::vector<std::string> devices;  // "cpu", "cuda", "cuda:0", "all"; empty: GPUs, else the CPU
  Preset preset = Preset::kDefault;
  std::optional<std::filesystem::path> out;  // seen from the caller's folder
  bool resume = false;                       // go on with the results in `out`
  uint64_t seed = 0;
  bool dry_run = false;
  double timeout_s = 60;  // the longest silence of a worker
  GoogleBenchmarkFlags benchmark;
};

// A call that cannot be carried out: one line for stderr, exit code 13.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ParsedCommandLine {
  Options options;
  std::string help;  // not empty: --help was asked for, print this and end
};

// Throws UsageError naming the argument, what it got and what it wants.
ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments,
                                     std::string_view suite);

}  // namespace tigon::harness
