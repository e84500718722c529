// Draws the inputs of a case: how values are drawn is the case's profile.
//
// Random normals hide bugs; a profile is a way of drawing that brings some kind of them out:
//   normal    N(0, 1)
//   offset    N(0, 1) + 100: a large common shift (cancellation)
//   outlier   N(0, 1), one column a thousand times larger (16-bit overflow, lost small terms)
//   constant  each row one value (variance 0)
//   zeros     all zero (eps, 0 / 0)
//   extreme   magnitudes up to `limit`, the largest for which the formula's own fp32 intermediates
//             are finite
//   tiny      magnitudes near the smallest normal number of the dtype
//   integer   small integers (exact sums)
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/sweep/case.h"

namespace tigon::harness {

at::ScalarType scalar_type(DType dtype);

class Draw {
 public:
  // `device` is where the tensors are made; the same device, case and seed give the same values.
  Draw(const Case& c, uint64_t seed, at::Device device);

  // Activations of the case's dtype, drawn by its profile; rows are along the last dimension.
  // `limit` bounds the magnitudes of the profiles extreme and outlier (infinite: the dtype's own).
  at::Tensor activations(at::IntArrayRef shape, double limit);
  // Weights: 1 + N(0, 0.1), of `dtype`; small integers for the profile integer.
  at::Tensor weights(at::IntArrayRef shape, at::ScalarType dtype);
  // Upstream gradients: N(0, 1) of `like`'s dtype and shape; small integers for `integer`.
  at::Tensor upstream(const at::Tensor& like);

  static const std::vector<std::string>& profiles();

 private:
  at::Tensor normal(at::IntArrayRef shape);
  at::Tensor integers(at::IntArrayRef shape, int64_t low, int64_t high);

  std::string profile_;
  DType dtype_;
  at::Device device_;
  at::Generator generator_;
};

}  // namespace tigon::harness
