// Vectors of 16-byte words, and the conversions between fp32 and the 16-bit types.
//
// The raw bits are kept in 32-bit words: a struct of __nv_bfloat16 has constructors of its own, and
// the compiler then may copy it element by element instead of with one 128-bit access.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace tigon::cuda {

template <typename T>
__device__ __forceinline__ float to_float(T value) {
  return static_cast<float>(value);
}

template <typename T>
__device__ __forceinline__ T from_float(float value);
template <>
__device__ __forceinline__ float from_float<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ __forceinline__ __half from_float<__half>(float value) {
  return __float2half_rn(value);
}

// value rounded to T and widened again.
template <typename T>
__device__ __forceinline__ float round_to(float value) {
  return to_float(from_float<T>(value));
}

// Two neighbours in one word, the first in the low half.
template <typename T>
__device__ __forceinline__ float2 unpack_pair(uint32_t word);
template <>
__device__ __forceinline__ float2 unpack_pair<__nv_bfloat16>(uint32_t word) {
  return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
}
template <>
__device__ __forceinline__ float2 unpack_pair<__half>(uint32_t word) {
  return __half22float2(*reinterpret_cast<const __half2*>(&word));
}

template <typename T>
__device__ __forceinline__ uint32_t pack_pair(float low, float high);
template <>
__device__ __forceinline__ uint32_t pack_pair<__nv_bfloat16>(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}
template <>
__device__ __forceinline__ uint32_t pack_pair<__half>(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

// How many T one 16-byte access carries.
template <typename T>
inline constexpr int kVecSize = 16 / sizeof(T);

// N adjacent elements of T, a multiple of 16 bytes.
template <typename T, int N>
struct Vec {
  static constexpr int kQuads = N * static_cast<int>(sizeof(T)) / 16;
  static_assert(kQuads * 16 == N * static_cast<int>(sizeof(T)));
  uint4 quads[kQuads];
};

template <typename T, int N>
__device__ __forceinline__ void unpack(const Vec<T, N>& vec, float (&out)[N]) {
#pragma unroll
  for (int q = 0; q < Vec<T, N>::kQuads; ++q) {
    const uint32_t words[4] = {vec.quads[q].x, vec.quads[q].y, vec.quads[q].z, vec.quads[q].w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (sizeof(T) == 4) {
        out[q * 4 + i] = __uint_as_float(words[i]);
      } else {
        const float2 pair = unpack_pair<T>(words[i]);
        out[q * 8 + 2 * i] = pair.x;
        out[q * 8 + 2 * i + 1] = pair.y;
      }
    }
  }
}

template <typename T, int N>
__device__ __forceinline__ Vec<T, N> pack(const float (&in)[N]) {
  Vec<T, N> vec;
#pragma unroll
  for (int q = 0; q < Vec<T, N>::kQuads; ++q) {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (sizeof(T) == 4) {
        words[i] = __float_as_uint(in[q * 4 + i]);
      } else {
        words[i] = pack_pair<T>(in[q * 8 + 2 * i], in[q * 8 + 2 * i + 1]);
      }
    }
    vec.quads[q] = make_uint4(words[0], words[1], words[2], words[3]);
  }
  return vec;
}

// Every element rounded to T and widened again, through the paired conversions.
template <typename T, int N>
__device__ __forceinline__ void round_all_to(float (&values)[N]) {
  if constexpr (sizeof(T) != 4) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      const float2 pair = unpack_pair<T>(pack_pair<T>(values[i], values[i + 1]));
      values[i] = pair.x;
      values[i + 1] = pair.y;
    }
  }
}

template <int N, typename T>
__device__ __forceinline__ Vec<T, N> zero_vec() {
  Vec<T, N> vec;
#pragma unroll
  for (auto& quad : vec.quads) quad = make_uint4(0, 0, 0, 0);
  return vec;
}

// Data that other blocks read too: let it stay in the caches.
// A plain load, also of data that is read once: marked evict-first (__ldcs), a cold L2 full of
// another kernel's writes cost 4 % in swiglu and 2 to 6 % in the RMSNorm forward on an H200.
template <int N, typename T>
__device__ __forceinline__ Vec<T, N> load_vec(const T* address) {
  Vec<T, N> vec;
#pragma unroll
  for (int q = 0; q < Vec<T, N>::kQuads; ++q)
    vec.quads[q] = reinterpret_cast<const uint4*>(address)[q];
  return vec;
}

template <typename T, int N>
__device__ __forceinline__ void store_vec(T* address, const Vec<T, N>& vec) {
#pragma unroll
  for (int q = 0; q < Vec<T, N>::kQuads; ++q)
    __stwb(reinterpret_cast<uint4*>(address) + q, vec.quads[q]);  // an assignment may be split
}

}  // namespace tigon::cuda
