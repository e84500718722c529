// The command line of the suites' binaries.
#pragma once

#include <string_view>
#include <vector>

#include "harness/operator.h"

namespace tigon::harness {

// `suite` is the Bazel target's name, for the commands that are printed. Returns the exit code
// (record/exit_code.h); errors are one line on stderr.
int run_command_line(int argc, char** argv, std::string_view suite,
                     std::vector<Operator> operators);

}  // namespace tigon::harness
