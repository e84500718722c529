// What a worker does with one case: inputs, truth, verification, memory, time, verification of what
// the timed launches wrote. A stage never runs when an earlier one is red.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/measure/clock.h"
#include "harness/measure/roof.h"
#include "harness/operator.h"
#include "harness/process/worker_main.h"
#include "harness/record/record.h"
#include "harness/worker/request.h"

namespace tigon::harness {

class CaseRunner {
 public:
  CaseRunner(const std::vector<Operator>& operators, c10::Device device);

  // Sends every row through the channel and says how the case ended. Operators may throw anything:
  // an error becomes a row of its own, a sticky CUDA error ends the worker.
  DoneReply run(const CaseRequest& request, WorkerChannel& channel);
  // Lets the cases loose on a mutant until one rejects it: a row {"case", "reason"} for the file
  // "mutant" says which and why. The reply's status is "caught", "survived", or how a case failed
  // that could not put the mutant to the test.
  DoneReply run_mutant(const MutantRequest& request, WorkerChannel& channel);

 private:
  void prepare_to_measure();

  const std::vector<Operator>& operators_;
  c10::Device device_;
  // Made when the first case is timed. The roof is measured in this run, case by case.
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Roof> roof_;
};

}  // namespace tigon::harness
