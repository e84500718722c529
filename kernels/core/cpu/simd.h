// Vectors of fp32 for the CPU kernels: as wide as the capability that the file is compiled for
// (capability.h). Arithmetic is the compiler's vector extension, so only what it lacks is written
// here: loads and stores, the tail of a row, sums across lanes.
//
// Everything is forced inline and lies in the capability's own namespace.
#pragma once

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#ifndef TIGON_CPU_CAPABILITY
#error "compile with -DTIGON_CPU_CAPABILITY=default, avx2 or avx512"
#endif

#define TIGON_CPU_JOIN_(a, b) a##b
#define TIGON_CPU_JOIN(a, b) TIGON_CPU_JOIN_(a, b)
#define TIGON_CPU_NAMESPACE TIGON_CPU_JOIN(cpu_, TIGON_CPU_CAPABILITY)
#define TIGON_INLINE __attribute__((always_inline)) inline

namespace tigon::TIGON_CPU_NAMESPACE {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define TIGON_CPU_AVX512 1
constexpr int64_t kLanes = 16;
#elif defined(__AVX2__) && defined(__F16C__)
#define TIGON_CPU_AVX2 1
constexpr int64_t kLanes = 8;
#else
constexpr int64_t kLanes = 4;
#endif

typedef float FloatVec __attribute__((vector_size(kLanes * 4)));
typedef int32_t IntVec __attribute__((vector_size(kLanes * 4)));
typedef uint32_t BitsVec __attribute__((vector_size(kLanes * 4)));
typedef uint16_t Bits16Vec __attribute__((vector_size(kLanes * 2)));

#if defined(TIGON_CPU_AVX512)
// The unmasked forms of many instructions start from an uninitialised register in GCC 12's headers,
// and -Wall says so at each use; a full mask compiles to the same instruction.
constexpr __mmask16 kEveryLane = 0xffff;
#endif

TIGON_INLINE FloatVec broadcast(float value) { return value - FloatVec{}; }
TIGON_INLINE BitsVec broadcast_bits(uint32_t value) { return value - BitsVec{}; }

template <typename Vec>
TIGON_INLINE Vec load_vec(const void* from) {
  Vec v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <typename Vec>
TIGON_INLINE void store_vec(void* to, Vec v) {
  __builtin_memcpy(to, &v, sizeof v);
}

// How many lanes of a vector stand for elements of a row: all, or the first `count`. Missing lanes
// read as 0 and are not written.
struct AllLanes {
  template <typename Vec>
  TIGON_INLINE Vec load(const void* from) const {
    return load_vec<Vec>(from);
  }
  template <typename Vec>
  TIGON_INLINE void store(void* to, Vec v) const {
    store_vec(to, v);
  }
};

struct FirstLanes {
  int count;

  template <typename Vec>
  TIGON_INLINE Vec load(const void* from) const {
#if defined(TIGON_CPU_AVX512)
    const auto mask = static_cast<__mmask16>((1u << count) - 1);
    if constexpr (sizeof(Vec) == 64) {
      return (Vec)_mm512_maskz_loadu_epi32(mask, from);
    } else {
      return (Vec)_mm256_maskz_loadu_epi16(mask, from);
    }
#else
    Vec v{};
    __builtin_memcpy(&v, from, count * (sizeof(Vec) / kLanes));
    return v;
#endif
  }
  template <typename Vec>
  TIGON_INLINE void store(void* to, Vec v) const {
#if defined(TIGON_CPU_AVX512)
    const auto mask = static_cast<__mmask16>((1u << count) - 1);
    if constexpr (sizeof(Vec) == 64) {
      _mm512_mask_storeu_epi32(to, mask, (__m512i)v);
    } else {
      _mm256_mask_storeu_epi16(to, mask, (__m256i)v);
    }
#else
    __builtin_memcpy(to, &v, count * (sizeof(Vec) / kLanes));
#endif
  }
};

// Calls body(i, lanes) for i = 0, kLanes, 2 kLanes, ... below count.
template <typename Body>
TIGON_INLINE void for_each_vector(int64_t count, Body body) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) body(i, AllLanes{});
  if (i < count) body(i, FirstLanes{static_cast<int>(count - i)});
}

// The lane-wise sum of term(i, lanes) over the vectors of [0, count), in four chains.
template <typename Term>
TIGON_INLINE FloatVec sum_of_vectors(int64_t count, Term term) {
  FloatVec sum[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) sum[k] += term(i + k * kLanes, AllLanes{});
  }
  for (; i + kLanes <= count; i += kLanes) sum[0] += term(i, AllLanes{});
  if (i < count) sum[1] += term(i, FirstLanes{static_cast<int>(count - i)});
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

TIGON_INLINE float sum_of_lanes(FloatVec v) {
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) v[k] += v[k + half];
  }
  return v[0];
}

}  // namespace tigon::TIGON_CPU_NAMESPACE
