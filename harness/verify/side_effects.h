// Nothing else may happen: what a correct operator does besides computing the right values, which
// is nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "harness/verify/program.h"
#include "harness/verify/truth.h"

namespace tigon::harness {

struct Run {
  std::vector<at::Tensor> outputs, gradients;
  std::string fault;  // what else happened; empty: nothing
};

// Runs forward and backward on copies of the case's inputs with every new block of memory filled
// with `fill` and guarded, and looks for: writes before or past a block, an input or upstream
// gradient that changed (gaps between its rows included), an output or gradient that shares memory
// with an input, an upstream gradient or another result.
Run run_guarded(const PreparedCase& prepared, const Program::Forward& forward, unsigned char fill);

// The same computation as an inner node of a larger graph: nobody but the node holds the upstream
// gradient, whose buffer it may then use.
Run run_chained(const PreparedCase& prepared, const Program::Forward& forward);

// On a stream other than the default one, while the default stream is busy with other work.
// CUDA only.
Run run_on_side_stream(const PreparedCase& prepared, const Program::Forward& forward);

// Which tensor differs in which way, bit by bit; empty when all are the same.
std::string first_difference(const std::vector<std::string>& names, const Run& a, const Run& b);

}  // namespace tigon::harness
