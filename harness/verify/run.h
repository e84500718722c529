// One run of a program on a case's arguments, and what two runs have in common.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/verify/program.h"
#include "harness/verify/truth.h"

namespace tigon::harness {

struct Run {
  std::vector<at::Tensor> outputs, gradients;
  std::string fault;  // what else happened; empty: nothing
};

struct Arguments {
  Inputs inputs;
  std::vector<at::Tensor> upstream;

  // "input x", "upstream gradient of y", ...
  std::vector<std::pair<std::string, at::Tensor>> named(const Operator& op) const;
};

// Copies of whole storages: what lies between the rows of a strided tensor comes along. The copies
// begin `shift` bytes, a multiple of 16, into their blocks.
Arguments copy_arguments(const Arguments& arguments, int64_t shift = 0);
Arguments copy_arguments(const PreparedCase& prepared);

// "input x was changed" when an argument's storage is not the case's own; else empty.
std::string find_changed_argument(const PreparedCase& prepared, const Arguments& arguments);

// Forward and backward; the outputs come back without their graph.
Run run_once(const PreparedCase& prepared, const Arguments& arguments,
             const Program::Forward& forward);

// Which tensor differs in its bits, empty when all are the same. `names` as tensor_names() gives.
std::string first_difference(const std::vector<std::string>& names, const Run& a, const Run& b);

}  // namespace tigon::harness
