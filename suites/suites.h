// The operators that the suites check and measure. Each has a file here, <operator>.cc, that binds
// its implementations to axes, presets, bytes and flops; all.cc lists them.
#pragma once

#include <string_view>
#include <vector>

#include "harness/operator.h"

namespace tigon::suites {

harness::Operator rms_norm();
harness::Operator swiglu();

// The operators of a suite: one operator's own, or every operator for "all".
std::vector<harness::Operator> suite(std::string_view name);

}  // namespace tigon::suites
