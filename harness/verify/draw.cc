#include "harness/verify/draw.h"

#include <ATen/Context.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <stdexcept>

#include "harness/sweep/seed.h"

namespace tigon::harness {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return at::kFloat;
    case DType::kBFloat16:
      return at::kBFloat16;
    case DType::kFloat16:
      return at::kHalf;
  }
  throw std::logic_error("unknown dtype");
}

const std::vector<std::string>& Draw::profiles() {
  static const std::vector<std::string> names = {"normal", "offset",  "outlier", "constant",
                                                 "zeros",  "extreme", "tiny",    "integer"};
  return names;
}

Draw::Draw(const Case& c, uint64_t seed, at::Device device)
    : profile_(c.profile), dtype_(c.dtype), device_(device) {
  if (std::ranges::find(profiles(), profile_) == profiles().end()) {
    throw std::invalid_argument(fmt::format("profile is \"{}\", expected one of {}", profile_,
                                            fmt::join(profiles(), ", ")));
  }
  generator_ = at::globalContext().defaultGenerator(device).clone();
  const std::lock_guard<std::mutex> lock(generator_.mutex());
  generator_.set_current_seed(case_seed(c.id(), seed));
}

at::Tensor Draw::normal(at::IntArrayRef shape) {
  return at::randn(shape, generator_, at::TensorOptions().dtype(at::kFloat).device(device_));
}

at::Tensor Draw::integers(at::IntArrayRef shape, int64_t low, int64_t high) {
  return at::randint(low, high + 1, shape, generator_,
                     at::TensorOptions().dtype(at::kFloat).device(device_));
}

at::Tensor Draw::activations(at::IntArrayRef shape, double limit) {
  const at::ScalarType dtype = scalar_type(dtype_);
  const double largest = std::min(limit, largest_finite(dtype_));
  if (profile_ == "normal") return normal(shape).to(dtype);
  if (profile_ == "offset") return normal(shape).add_(100.0).to(dtype);
  if (profile_ == "integer") return integers(shape, -4, 4).to(dtype);
  if (profile_ == "zeros") {
    return at::zeros(shape, at::TensorOptions().dtype(dtype).device(device_));
  }
  if (profile_ == "tiny") return normal(shape).mul_(4 * smallest_normal(dtype_)).to(dtype);
  if (profile_ == "outlier") {
    at::Tensor x = normal(shape);
    if (x.numel() > 0) x.select(-1, shape.back() / 2).mul_(1000.0);
    return x.clamp_(-largest, largest).to(dtype);
  }
  if (profile_ == "constant") {
    std::vector<int64_t> rows(shape.begin(), shape.end());
    rows.back() = 1;
    return normal(rows).expand(shape).contiguous().to(dtype);
  }
  // extreme: log-uniform over the top factor of 16 below the largest, either sign. Drawn in double:
  // the bounds themselves must not be rounded past the largest.
  const auto options = at::TensorOptions().dtype(at::kDouble).device(device_);
  const at::Tensor sign = at::randint(0, 2, shape, generator_, options).mul_(2).sub_(1);
  const at::Tensor magnitude = at::rand(shape, generator_, options).mul_(-4.0).exp2_();
  return magnitude.mul_(largest).mul_(sign).to(dtype);
}

at::Tensor Draw::weights(at::IntArrayRef shape, at::ScalarType dtype) {
  if (profile_ == "integer") return integers(shape, 1, 3).to(dtype);
  return normal(shape).mul_(0.1).add_(1.0).to(dtype);
}

at::Tensor Draw::upstream(const at::Tensor& like) {
  if (profile_ == "integer") return integers(like.sizes(), -2, 2).to(like.scalar_type());
  return normal(like.sizes()).to(like.scalar_type());
}

}  // namespace tigon::harness
