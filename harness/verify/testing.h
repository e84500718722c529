// An operator for the harness's own tests, and broken twins of it.
//
// scaled_square: y[r, h] = weight[h] * x[r, h]^2, a dispatcher operator made of LibTorch's own.
#pragma once

#include <string>
#include <string_view>

#include "harness/operator.h"

namespace tigon::harness::testing {

// Sizes rows and hidden, the option layout. Sweeps: "timed" (smoke, one point, fp32 and bf16),
// "widths" (default, verified only, three points) and "large" (full, timed, CUDA only).
// Keeps x * x for the backward, and claims to keep that much.
Operator scaled_square();

// A case of it.
Case scaled_square_case(int64_t rows, int64_t hidden, DType dtype = DType::kFloat32,
                        const std::string& profile = "normal",
                        const std::string& layout = "contiguous");

// The operator with the twin tigon_test::scaled_square.<fault> in the product's place:
//   forward_off      y is 1 % too large
//   backward_off     the gradient of x is half of what it should be
//   no_gradient      the weight gets none
//   nan              one NaN in y
//   wide             y in fp32 whatever the inputs are
//   narrow           y without its last column
//   alias            y lies in the memory of x; right where both are zero
//   writes_input     right, but adds to x afterwards
//   writes_gap       right, but writes behind the first row of x
//   writes_upstream  right, but leaves other numbers in the upstream gradient
//   writes_past      right, but writes a byte past the end of y
//   reads_unwritten  right unless fresh memory holds the fill of the verification's second run
//   flickers         every other call differs in the last bits
//   throws           a c10::Error of two lines
//   out_of_memory    the error of an allocator that has no more
//   keeps            right, but keeps a second copy of x for the backward
Operator broken(std::string_view fault);

}  // namespace tigon::harness::testing
