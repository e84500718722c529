#include "harness/cli/cli.h"

#include <fmt/format.h>

#include <string>

#include "harness/cli/options.h"
#include "harness/cli/verbs.h"
#include "harness/cli/worker_entry.h"
#include "harness/record/csv.h"
#include "harness/record/exit_code.h"

namespace tigon::harness {
namespace {

ExitCode dispatch(const Call& call) {
  switch (call.options.verb) {
    case Verb::kRun:
    case Verb::kVerify:
    case Verb::kBench:
      return run_cases(call);
    case Verb::kList:
      return list_cases(call);
    case Verb::kMutants:
      return run_mutants(call);
  }
  return ExitCode::kUsage;
}

}  // namespace

int run_command_line(int argc, char** argv, std::string_view suite,
                     std::vector<Operator> operators) {
  const std::vector<std::string> command_line(argv, argv + argc);
  const std::vector<std::string> arguments(command_line.begin() + 1, command_line.end());
  try {
    if (is_worker_call(arguments)) return worker_entry(arguments, operators);
    ParsedCommandLine parsed = parse_command_line(arguments, suite);
    if (!parsed.help.empty()) {
      fmt::print("{}", parsed.help);
      return static_cast<int>(ExitCode::kFine);
    }
    return static_cast<int>(
        dispatch({std::string(suite), command_line, std::move(parsed.options), operators}));
  } catch (const std::exception& error) {
    // Whatever was measured is in the record files: they are written row by row.
    fmt::print(stderr, "tigon: {}\n", error.what());
    return static_cast<int>(ExitCode::kUsage);
  }
}

}  // namespace tigon::harness
