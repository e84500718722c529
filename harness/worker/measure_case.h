// Memory and time of the implementations of a case that was found right.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/clock.h"
#include "harness/measure/roof.h"
#include "harness/process/worker_main.h"
#include "harness/record/record.h"
#include "harness/verify/program.h"
#include "harness/verify/truth.h"
#include "harness/verify/verify.h"

namespace tigon::harness {

struct CaseToMeasure {
  const PreparedCase& prepared;
  const Judge& judge;
  const Verification& verification;
  SpeedRecord base;  // what all rows have in common
  double time_budget_s;
  int64_t repetitions;  // rounds; 0: as many as the time needs
};

// A row for each pass (forward, backward, step) of the fused operator, eager and, where there is
// one, LibTorch's own. Peak, saved and workspace memory and host time stand in the rows of the
// step. An implementation that is not right, or that memory does not suffice for, has one row that
// says so. Afterwards the results of the last timed launches are judged again: wrong ones turn the
// rows red.
std::vector<SpeedRecord> measure_case(const CaseToMeasure& c, Clock& clock, Roof& roof,
                                      WorkerChannel& channel);

}  // namespace tigon::harness
