// What the binary's exit status says. 1 and 2 are left to Bazel, which uses them under `bazel run`.
#pragma once

#include <initializer_list>

namespace tigon::harness {

enum class ExitCode {
  kFine = 0,
  kSlower = 10,       // slower or hungrier than allowed
  kWrong = 11,        // a result is wrong
  kNotMeasured = 12,  // something could not be measured: crash, timeout, out of memory, invalid
  kUsage = 13,        // the call or the machine is at fault: bad flag, no such device, disk full
};

// Worst first: 13, 11, 12, 10, 0. A wrong result outweighs one that could not be had.
constexpr int severity(ExitCode code) {
  switch (code) {
    case ExitCode::kFine:
      return 0;
    case ExitCode::kSlower:
      return 1;
    case ExitCode::kNotMeasured:
      return 2;
    case ExitCode::kWrong:
      return 3;
    case ExitCode::kUsage:
      return 4;
  }
  return 4;
}

constexpr ExitCode worst(ExitCode a, ExitCode b) { return severity(a) >= severity(b) ? a : b; }

constexpr ExitCode worst(std::initializer_list<ExitCode> codes) {
  ExitCode result = ExitCode::kFine;
  for (ExitCode code : codes) result = worst(result, code);
  return result;
}

}  // namespace tigon::harness
