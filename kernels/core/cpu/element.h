// The element types as the CPU kernels see them: load widens to fp32 (exact), store and round go to
// the type by round-to-nearest-even. Subnormals are kept, overflow gives infinity, NaN stays NaN.
#pragma once

#include "kernels/core/cpu/simd.h"

namespace tigon::TIGON_CPU_NAMESPACE {

struct Float32 {
  using Storage = float;

  template <typename Lanes>
  TIGON_INLINE static FloatVec load(const Storage* from, Lanes lanes) {
    return lanes.template load<FloatVec>(from);
  }
  template <typename Lanes>
  TIGON_INLINE static void store(Storage* to, FloatVec v, Lanes lanes) {
    lanes.store(to, v);
  }
  TIGON_INLINE static FloatVec round(FloatVec v) { return v; }
};

// Narrows lanes that hold values below 2^16.
TIGON_INLINE Bits16Vec narrow(BitsVec v) {
#if defined(TIGON_CPU_AVX512)
  return (Bits16Vec)_mm512_maskz_cvtepi32_epi16(kEveryLane, (__m512i)v);
#elif defined(TIGON_CPU_AVX2)
  const __m256i pairs = _mm256_packus_epi32((__m256i)v, (__m256i)v);
  return (Bits16Vec)_mm256_castsi256_si128(_mm256_permute4x64_epi64(pairs, 0x08));
#else
  return __builtin_convertvector(v, Bits16Vec);
#endif
}

TIGON_INLINE BitsVec widen(Bits16Vec v) {
#if defined(TIGON_CPU_AVX512)
  return (BitsVec)_mm512_maskz_cvtepu16_epi32(kEveryLane, (__m256i)v);
#elif defined(TIGON_CPU_AVX2)
  return (BitsVec)_mm256_cvtepu16_epi32((__m128i)v);
#else
  return __builtin_convertvector(v, BitsVec);
#endif
}

struct BFloat16 {
  using Storage = uint16_t;

  template <typename Lanes>
  TIGON_INLINE static FloatVec load(const Storage* from, Lanes lanes) {
    return (FloatVec)(widen(lanes.template load<Bits16Vec>(from)) << 16);
  }
  template <typename Lanes>
  TIGON_INLINE static void store(Storage* to, FloatVec v, Lanes lanes) {
    lanes.store(to, from_upper(rounded_bits(v)));
  }
  TIGON_INLINE static FloatVec round(FloatVec v) {
    return (FloatVec)(rounded_bits(v) & 0xffff0000u);
  }

 private:
  TIGON_INLINE static Bits16Vec from_upper(BitsVec v) {
#if defined(TIGON_CPU_AVX512)
    // One permutation of words does what would be a shift and a conversion. Word k comes from word
    // 2k + 1: the indices are 1, 3, 5, 7, ... in pairs; the upper half is not used.
    constexpr BitsVec kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const BitsVec odd = ((4 * kLane + 1) & 31u) | (((4 * kLane + 3) & 31u) << 16);
    const __m512i words = _mm512_maskz_permutexvar_epi16(0xffffffff, (__m512i)odd, (__m512i)v);
    return load_vec<Bits16Vec>(&words);
#else
    return narrow(v >> 16);
#endif
  }

  // The upper 16 bits are the result. (The processor's own conversion flushes subnormals.)
  TIGON_INLINE static BitsVec rounded_bits(FloatVec v) {
    const BitsVec bits = (BitsVec)v;
    const BitsVec rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    // Adding to a NaN could carry into its sign; setting the quiet bit keeps it a NaN.
    return v == v ? rounded : bits | 0x00400000u;
  }
};

struct Float16 {
  using Storage = uint16_t;

  template <typename Lanes>
  TIGON_INLINE static FloatVec load(const Storage* from, Lanes lanes) {
    return to_float(lanes.template load<Bits16Vec>(from));
  }
  template <typename Lanes>
  TIGON_INLINE static void store(Storage* to, FloatVec v, Lanes lanes) {
    lanes.store(to, from_float(v));
  }
  TIGON_INLINE static FloatVec round(FloatVec v) { return to_float(from_float(v)); }

 private:
#if defined(TIGON_CPU_AVX512)
  TIGON_INLINE static FloatVec to_float(Bits16Vec v) {
    return (FloatVec)_mm512_maskz_cvtph_ps(kEveryLane, (__m256i)v);
  }
  TIGON_INLINE static Bits16Vec from_float(FloatVec v) {
    return (Bits16Vec)_mm512_maskz_cvtps_ph(kEveryLane, (__m512)v,
                                            _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
#elif defined(TIGON_CPU_AVX2)
  TIGON_INLINE static FloatVec to_float(Bits16Vec v) {
    return (FloatVec)_mm256_cvtph_ps((__m128i)v);
  }
  TIGON_INLINE static Bits16Vec from_float(FloatVec v) {
    return (Bits16Vec)_mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
#else
  // fp16 has 5 exponent bits (bias 15) and 10 fraction bits; fp32 has 8 (bias 127) and 23.
  static constexpr uint32_t kRebias = (127 - 15) << 23;

  TIGON_INLINE static FloatVec to_float(Bits16Vec v) {
    const BitsVec wide = widen(v);
    const BitsVec magnitude = (wide & 0x7fffu) << 13;
    const BitsVec normal = magnitude + kRebias;
    // A subnormal is its fraction times 2^-24: read as 2^-14 (1 + fraction), less 2^-14.
    const uint32_t two_to_minus_14 = (127 - 14) << 23;
    const BitsVec subnormal = (BitsVec)((FloatVec)(magnitude + two_to_minus_14) -
                                        (FloatVec)broadcast_bits(two_to_minus_14));
    const BitsVec special = magnitude | 0x7f800000u;
    const BitsVec finite = (BitsVec)(magnitude < 0x00800000u) ? subnormal : normal;
    const BitsVec bits = (BitsVec)(magnitude >= (0x7c00u << 13)) ? special : finite;
    return (FloatVec)(bits | ((wide & 0x8000u) << 16));
  }
  TIGON_INLINE static Bits16Vec from_float(FloatVec v) {
    const BitsVec sign = ((BitsVec)v >> 16) & 0x8000u;
    const BitsVec magnitude = (BitsVec)v & 0x7fffffffu;
    const BitsVec normal = (magnitude - kRebias + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
    // Added to 0.5, whose unit in the last place is 2^-24, a small value is rounded to a multiple
    // of fp16's smallest subnormal.
    const FloatVec half = broadcast(0.5f);
    const BitsVec subnormal = (BitsVec)((FloatVec)magnitude + half) - (BitsVec)half;
    const BitsVec finite = (BitsVec)(magnitude < ((127u - 14u) << 23)) ? subnormal : normal;
    // 65520 lies halfway between the largest fp16 and what would come after it.
    const BitsVec infinite = (BitsVec)(magnitude >= 0x477ff000u) ? broadcast_bits(0x7c00u) : finite;
    const BitsVec nan = ((magnitude >> 13) & 0x01ffu) | 0x7e00u;
    const BitsVec bits = (BitsVec)(magnitude > 0x7f800000u) ? nan : infinite;
    return narrow(bits | sign);
  }
#endif
};

// `value` rounded to the type.
template <typename Element>
TIGON_INLINE float round_scalar(float value) {
  return Element::round(broadcast(value))[0];
}

}  // namespace tigon::TIGON_CPU_NAMESPACE
