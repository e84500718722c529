// exp of a vector of fp32.
#pragma once

#include "kernels/core/cpu/simd.h"

namespace tigon::TIGON_CPU_NAMESPACE {

// The larger and the smaller of x and the bound; a NaN in x stays.
TIGON_INLINE FloatVec at_least(FloatVec x, float bound) {
#if defined(TIGON_CPU_AVX512)
  return (FloatVec)_mm512_maskz_max_ps(kEveryLane, (__m512)broadcast(bound), (__m512)x);
#elif defined(TIGON_CPU_AVX2)
  return (FloatVec)_mm256_max_ps((__m256)broadcast(bound), (__m256)x);
#else
  return x < bound ? broadcast(bound) : x;
#endif
}

TIGON_INLINE FloatVec at_most(FloatVec x, float bound) {
#if defined(TIGON_CPU_AVX512)
  return (FloatVec)_mm512_maskz_min_ps(kEveryLane, (__m512)broadcast(bound), (__m512)x);
#elif defined(TIGON_CPU_AVX2)
  return (FloatVec)_mm256_min_ps((__m256)broadcast(bound), (__m256)x);
#else
  return x > bound ? broadcast(bound) : x;
#endif
}

// exp(x) for -105 < x < 90 or NaN.
//
// x = n ln 2 + r with |r| <= ln(2) / 2, exp(x) = 2^n (1 + r + r^2 p(r)); p is the minimax fit in
// relative error (3.2e-9, a twentieth of the unit roundoff).
TIGON_INLINE FloatVec exp_in_range(FloatVec x) {
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  const FloatVec shift = broadcast(0x1.8p23f);
  const FloatVec shifted = x * 0x1.715476p0f + shift;
  const FloatVec n = shifted - shift;
  // ln 2 in two parts; the first has 10 bits, so that its product with n is exact without FMA.
  FloatVec r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  FloatVec p = 0.00138138809143f * r + 0.00836906345785f;
  p = p * r + 0.0416684218124f;
  p = p * r + 0.166665177624f;
  p = p * r + 0.499999932537f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
#if defined(TIGON_CPU_AVX512)
  return (FloatVec)_mm512_maskz_scalef_ps(kEveryLane, (__m512)p, (__m512)n);
#else
  // 2^n in two factors: one alone would be out of range where the result is subnormal.
  const IntVec exponent = (IntVec)shifted - (IntVec)shift;
  const IntVec first = exponent >> 1;
  const IntVec second = exponent - first;
  return p * (FloatVec)((first + 127) << 23) * (FloatVec)((second + 127) << 23);
#endif
}

// Within 1.2 ulp of exp(x) for every x (1 with FMA), subnormal results included; 0 below -104,
// infinity above 88.73; NaN stays NaN.
TIGON_INLINE FloatVec exp(FloatVec x) { return exp_in_range(at_most(at_least(x, -104.5f), 89.0f)); }

// 1 / x for x in [1, 2] or NaN, within 1 ulp.
TIGON_INLINE FloatVec reciprocal(FloatVec x) {
#if defined(TIGON_CPU_AVX512)
  // The estimate has 14 bits; one Newton step doubles them, at less than the divider's time. The
  // residual needs FMA: rounded, 1 - x * estimate would lose what the step is to gain.
  const __m512 estimate = _mm512_maskz_rcp14_ps(kEveryLane, (__m512)x);
  const __m512 residual = _mm512_fnmadd_ps((__m512)x, estimate, (__m512)broadcast(1.0f));
  return (FloatVec)_mm512_fmadd_ps(estimate, residual, estimate);
#else
  return 1.0f / x;
#endif
}

// s = 1 / (1 + exp(-x)) and its complement 1 - s, both without cancellation or overflow.
struct Logistic {
  FloatVec s, complement;
};

TIGON_INLINE Logistic logistic(FloatVec x) {
  // exp(-|x|), which is at most 1.
  const FloatVec e = exp_in_range(at_least((FloatVec)((BitsVec)x | 0x80000000u), -104.5f));
  const FloatVec larger = reciprocal(1.0f + e);
  const FloatVec smaller = e * larger;
  const auto negative = x < 0.0f;
  return {negative ? smaller : larger, negative ? larger : smaller};
}

}  // namespace tigon::TIGON_CPU_NAMESPACE
