// How the measurement of one row ended.
#pragma once

#include <string_view>

#include "harness/record/exit_code.h"

namespace tigon::harness {

enum class Status {
  kOk,
  kSkipped,  // not run, for a reason that is no fault: does not fit, baseline out of memory
  kNoisy,    // right and measured, but the interval stayed wide until the time limit
  kInvalid,  // the figure cannot be true (above 110 % of its roof, twice)
  kOom,      // out of memory
  kTimeout,  // hung, or ran past its time
  kCrash,    // the worker died: signal or sticky device error
  kError,    // the operator threw
  kWrong,    // the result is not right
};

inline constexpr Status kAllStatuses[] = {Status::kOk,      Status::kSkipped, Status::kNoisy,
                                          Status::kInvalid, Status::kOom,     Status::kTimeout,
                                          Status::kCrash,   Status::kError,   Status::kWrong};

std::string_view to_string(Status status);   // "ok", "wrong", "crash", ...
Status parse_status(std::string_view text);  // throws std::invalid_argument

// Which status stands for several rows together: the later in the enumeration. Wrong outweighs what
// could not be measured, which outweighs what was merely noisy.
constexpr Status worst(Status a, Status b) { return a > b ? a : b; }

// kOk, kSkipped and kNoisy are fine (0); kWrong is 11; the rest could not be measured (12).
ExitCode exit_code(Status status);

// True for kOk, kSkipped and kNoisy.
inline bool is_fine(Status status) { return exit_code(status) == ExitCode::kFine; }

}  // namespace tigon::harness
