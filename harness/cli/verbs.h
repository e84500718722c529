// What each verb does. Each prints its result on stdout and returns the exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/options.h"
#include "harness/operator.h"
#include "harness/record/exit_code.h"

namespace tigon::harness {

struct Call {
  std::string suite;
  std::vector<std::string> command_line;
  Options options;
  const std::vector<Operator>& operators;
};

ExitCode run_cases(const Call& call);    // run, verify, bench
ExitCode list_cases(const Call& call);   // list, and --dry-run
ExitCode run_mutants(const Call& call);  // mutants

}  // namespace tigon::harness
