#include "reference/eager/rms_norm.h"

#include <ATen/ops/add.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsqrt.h>
#include <c10/util/Exception.h>

#include <string>

namespace tigon::eager {
namespace {

at::Tensor normalize(const at::Tensor& x, double eps) {
  const at::Tensor variance = at::mean(at::pow(x, 2), /*dim=*/-1, /*keepdim=*/true);
  return at::mul(x, at::rsqrt(at::add(variance, eps)));
}

// A model without an offset does not spend an operation on adding 0.
at::Tensor add_offset(const at::Tensor& weight, double offset) {
  return offset == 0.0 ? weight : at::add(weight, offset);
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps,
                    double offset, std::string_view casting) {
  const at::ScalarType type = x.scalar_type();
  const at::ScalarType compute = type == at::kDouble ? at::kDouble : at::kFloat;
  if (casting == "llama") {
    const at::Tensor y = normalize(x.to(compute), eps).to(type);
    // An fp32 weight makes the product fp32.
    return weight ? at::mul(add_offset(*weight, offset), y).to(type) : y;
  }
  if (casting == "gemma") {
    const at::Tensor y = normalize(x.to(compute), eps);
    if (!weight) return y.to(type);
    return at::mul(y, add_offset(weight->to(compute), offset)).to(type);
  }
  TORCH_CHECK_VALUE(casting == "none", "rms_norm: casting is \"", std::string(casting),
                    "\", wants \"llama\", \"gemma\" or \"none\"");
  const at::Tensor y = normalize(x, eps);
  return weight ? at::mul(y, add_offset(*weight, offset)).to(type) : y;
}

}  // namespace tigon::eager
