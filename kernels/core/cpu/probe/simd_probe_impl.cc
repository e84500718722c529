// Compiled once for each capability (capability.h).
#include "kernels/core/cpu/element.h"
#include "kernels/core/cpu/exp.h"
#include "kernels/core/cpu/probe/simd_probe.h"
#include "kernels/core/cpu/simd.h"

namespace tigon::TIGON_CPU_NAMESPACE {
namespace {

void exp_array(const float* x, float* y, int64_t count) {
  for_each_vector(count, [&](int64_t i, auto lanes) {
    Float32::store(y + i, exp(Float32::load(x + i, lanes)), lanes);
  });
}

void logistic_array(const float* x, float* s, float* complement, int64_t count) {
  for_each_vector(count, [&](int64_t i, auto lanes) {
    const Logistic result = logistic(Float32::load(x + i, lanes));
    Float32::store(s + i, result.s, lanes);
    Float32::store(complement + i, result.complement, lanes);
  });
}

template <typename Element>
void load_array(const uint16_t* from, float* to, int64_t count) {
  for_each_vector(count, [&](int64_t i, auto lanes) {
    Float32::store(to + i, Element::load(from + i, lanes), lanes);
  });
}

template <typename Element>
void store_array(const float* from, uint16_t* to, int64_t count) {
  for_each_vector(count, [&](int64_t i, auto lanes) {
    Element::store(to + i, Float32::load(from + i, lanes), lanes);
  });
}

template <typename Element>
void round_array(const float* from, float* to, int64_t count) {
  for_each_vector(count, [&](int64_t i, auto lanes) {
    Float32::store(to + i, Element::round(Float32::load(from + i, lanes)), lanes);
  });
}

float sum_array(const float* from, int64_t count) {
  return sum_of_lanes(
      sum_of_vectors(count, [&](int64_t i, auto lanes) { return Float32::load(from + i, lanes); }));
}

}  // namespace

extern const SimdProbe kSimdProbe = {
    exp_array,
    logistic_array,
    load_array<BFloat16>,
    store_array<BFloat16>,
    round_array<BFloat16>,
    load_array<Float16>,
    store_array<Float16>,
    round_array<Float16>,
    sum_array,
};

}  // namespace tigon::TIGON_CPU_NAMESPACE
