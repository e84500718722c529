// The truth of a case, and the proof of the truth.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "harness/operator.h"

namespace tigon::harness {

// A case ready to be run on a device.
struct PreparedCase {
  const Operator* op = nullptr;
  Case c;
  c10::Device device = c10::kCPU;
  uint64_t seed = 0;
  Inputs inputs;
  std::vector<at::Tensor> upstream;  // one per output
};

// Draws inputs and upstream gradients and lays them out as the case's option `layout` says, where
// it has one. The shapes of the outputs come from eager, run on the inputs.
PreparedCase prepare(const Operator& op, const Case& c, c10::Device device, uint64_t seed);

struct CaseTruth {
  // "eigen": the reference on the CPU. "eager_fp64": eager LibTorch in double on the device, itself
  // held to the reference at small sizes.
  std::string kind;
  std::vector<at::Tensor> outputs;    // in the order of Operator::output_names
  std::vector<at::Tensor> gradients;  // in the order of the inputs that want one
  // As Truth::gradient_terms, in the order of the gradients; undefined where there is none. Empty
  // for eager_fp64.
  std::vector<at::Tensor> gradient_terms;

  at::Tensor terms_of(size_t gradient) const {
    return gradient < gradient_terms.size() ? gradient_terms[gradient] : at::Tensor();
  }
};

// By the reference up to a size at which it takes about a second, else by eager in double.
CaseTruth find_truth(const PreparedCase& prepared);

// Names of the outputs, then of the gradients ("d" + input name).
std::vector<std::string> tensor_names(const PreparedCase& prepared);

// Holds the voices of truth against each other on one case: the reference, eager in double, and, on
// the smallest cases, central differences of the reference's forward. Returns who is wrong and how,
// empty when they agree.
std::string check_truth(const PreparedCase& prepared, const CaseTruth& truth);

}  // namespace tigon::harness
