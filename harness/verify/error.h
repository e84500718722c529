// How far a tensor is from the truth, and whether that is right.
//
// For an element, e = |got - truth| / max(|truth|, RMS of truth over its row, smallest normal
// number of the dtype). A tensor is judged by the RMS and the largest e against what eager LibTorch
// makes in the same dtype from the same inputs: an error of the arithmetic that the dtype imposes
// on everybody is no fault, an error beyond it is one. So there is no table of tolerances.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "harness/sweep/dtype.h"

namespace tigon::harness {

struct TensorError {
  int64_t elements = 0;
  double rms = 0;
  double max = 0;
  int64_t nonfinite_got = 0;
  int64_t nonfinite_want = 0;  // of the truth rounded to the dtype
  // Places where one is NaN or infinite and the other is not the same.
  int64_t nonfinite_misplaced = 0;
};

// `got` of any device and dtype; `truth` in double of the same shape, on any device. Computed in
// double on got's device. `terms`, where defined, is the size of the terms that cancel in the truth
// (Truth::gradient_terms): e is taken against it where it is larger. Throws std::invalid_argument
// when the shapes differ.
TensorError tensor_error(const at::Tensor& got, const at::Tensor& truth,
                         const at::Tensor& terms = {});

// The dtype of a tensor as cases know it; throws std::invalid_argument for one that they do not.
DType dtype_of(const at::Tensor& tensor);

enum class Role { kOutput, kGradient };

struct Verdict {
  bool right = false;
  double limit_rms = 0, limit_max = 0;
  double used = 0;     // the largest share of a limit that was used; 1 is the limit
  std::string reason;  // why it is wrong
};

// RMS(e) <= L max(eager's RMS(e), a u) and max(e) <= M max(eager's max(e), b u), and max(e) never
// above a ceiling; u is the unit roundoff of the tensor's dtype or of `intermediates`, whichever is
// coarser: the coarsest dtype that the operation by its own definition rounds to on the way (the
// fp32 gradient of an fp32 weight carries the bf16 roundings of x * rstd). L, M: 1.25 and 2 for
// outputs, 1.5 and 3 for gradients. a, b: 1 and 2 for 16-bit types, 4 and 8 for fp32. Ceiling: 16 u
// and 256 u. Found by trial: with them right fp32 kernels are never red on small tensors, and a
// skipped tail, a bf16 rstd or a bf16 accumulator always is. Without eager (it ran out of memory)
// floor and ceiling decide.
Verdict judge(const TensorError& error, const std::optional<TensorError>& eager, DType dtype,
              DType intermediates, Role role);

}  // namespace tigon::harness
