#include "harness/record/status.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "harness/sweep/suggest.h"

namespace tigon::harness {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kSkipped:
      return "skipped";
    case Status::kNoisy:
      return "noisy";
    case Status::kInvalid:
      return "invalid";
    case Status::kOom:
      return "oom";
    case Status::kTimeout:
      return "timeout";
    case Status::kCrash:
      return "crash";
    case Status::kError:
      return "error";
    case Status::kWrong:
      return "wrong";
  }
  return "?";
}

Status parse_status(std::string_view text) {
  std::vector<std::string> known;
  for (Status status : kAllStatuses) {
    if (to_string(status) == text) return status;
    known.emplace_back(to_string(status));
  }
  throw std::invalid_argument(unknown_name("status", text, known));
}

ExitCode exit_code(Status status) {
  switch (status) {
    case Status::kOk:
    case Status::kSkipped:
    case Status::kNoisy:
      return ExitCode::kFine;
    case Status::kInvalid:
    case Status::kOom:
    case Status::kTimeout:
    case Status::kCrash:
    case Status::kError:
      return ExitCode::kNotMeasured;
    case Status::kWrong:
      return ExitCode::kWrong;
  }
  return ExitCode::kNotMeasured;
}

}  // namespace tigon::harness
