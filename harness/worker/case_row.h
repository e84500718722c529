// The row that a case has before anything is known of it.
#pragma once

#include <string>

#include "harness/record/record.h"
#include "harness/worker/request.h"

namespace tigon::harness {

// Of the fused implementation: what the request says of the case and of the run. A timed case that
// gets no figures has this one row, which stands for the whole step.
SpeedRecord case_row(const CaseRequest& request, const std::string& device);

}  // namespace tigon::harness
