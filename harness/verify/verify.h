// Judges every implementation of a case against the truth.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"
#include "harness/verify/error.h"
#include "harness/verify/program.h"
#include "harness/verify/truth.h"

namespace tigon::harness {

struct ImplementationVerdict {
  std::string implementation;
  Status status = Status::kOk;  // ok, wrong, oom, error or crash
  std::string verdict;          // "right", "bound", "wrong", or empty where it could not run
  double limit_used = 0;        // the largest share of a limit over all tensors
  std::string reason;
};

struct Verification {
  std::string truth;                            // which truth it was
  std::string truth_fault;                      // why it cannot be trusted; empty: it can
  std::vector<ImplementationVerdict> verdicts;  // fused, eager, library where there is one
  std::vector<PrecisionRecord> records;

  const ImplementationVerdict* find(std::string_view implementation) const;
};

// Judges outputs and gradients that an implementation made. `eager` holds eager's errors in the
// order of tensor_names(), or nothing.
class Judge {
 public:
  Judge(const PreparedCase& prepared, CaseTruth truth);

  const CaseTruth& truth() const { return truth_; }
  // Eager's own errors: the yardstick. Not set: eager could not be run.
  void set_yardstick(const std::vector<at::Tensor>& outputs,
                     const std::vector<at::Tensor>& gradients);

  // Adds a precision record per tensor to `records`, unless that is null.
  ImplementationVerdict judge(std::string_view implementation,
                              const std::vector<at::Tensor>& outputs,
                              const std::vector<at::Tensor>& gradients,
                              std::vector<PrecisionRecord>* records) const;

 private:
  const PreparedCase* prepared_;
  CaseTruth truth_;
  std::vector<std::string> names_;
  std::vector<std::optional<TensorError>> yardstick_;
};

// Everything: the truth and its proof, eager, library, the fused kernel's results, and that nothing
// else happened. `forward` is the fused operator or a mutant.
Verification verify(const PreparedCase& prepared, Judge& judge, const Program::Forward& forward);

// A LibTorch or C++ error as a status and a one-line reason: oom, error, or crash for an error of
// the device itself (an illegal access, a trap), after which every later call of the process fails
// too.
struct Failure {
  Status status;
  std::string reason;
};
Failure describe_failure(const std::exception& error);

}  // namespace tigon::harness
