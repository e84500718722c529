// The vector functions of element.h and exp.h as functions on arrays, one table per capability.
// For tests alone.
#pragma once

#include <cstdint>

namespace tigon {

struct SimdProbe {
  void (*exp)(const float* x, float* y, int64_t count);
  void (*logistic)(const float* x, float* s, float* complement, int64_t count);
  void (*load_bfloat16)(const uint16_t* from, float* to, int64_t count);
  void (*store_bfloat16)(const float* from, uint16_t* to, int64_t count);
  void (*round_bfloat16)(const float* from, float* to, int64_t count);
  void (*load_float16)(const uint16_t* from, float* to, int64_t count);
  void (*store_float16)(const float* from, uint16_t* to, int64_t count);
  void (*round_float16)(const float* from, float* to, int64_t count);
  float (*sum)(const float* from, int64_t count);
};

namespace cpu_default {
extern const SimdProbe kSimdProbe;
}
namespace cpu_avx2 {
extern const SimdProbe kSimdProbe;
}
namespace cpu_avx512 {
extern const SimdProbe kSimdProbe;
}

}  // namespace tigon
