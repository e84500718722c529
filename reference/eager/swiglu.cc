#include "reference/eager/swiglu.h"

#include <ATen/ops/mul.h>
#include <ATen/ops/silu.h>

namespace tigon::eager {

at::Tensor swiglu(const at::Tensor& a, const at::Tensor& b) { return at::mul(at::silu(a), b); }

}  // namespace tigon::eager
