// Nothing else may happen: what a correct operator does besides computing the right values, which
// is nothing.
#pragma once

#include "harness/verify/program.h"
#include "harness/verify/run.h"
#include "harness/verify/truth.h"

namespace tigon::harness {

// Runs forward and backward on copies of the case's inputs with every new block of memory filled
// with `fill` and guarded, and looks for: writes before or past a block, an input or upstream
// gradient that changed (gaps between its rows included), an output or gradient that shares memory
// with an input, an upstream gradient or another result.
Run run_guarded(const PreparedCase& prepared, const Program::Forward& forward, unsigned char fill);

}  // namespace tigon::harness
