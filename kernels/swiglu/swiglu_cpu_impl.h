// What swiglu_cpu.cc asks of the build for each CPU capability.
#pragma once

#include <cstdint>

#include "kernels/swiglu/swiglu_kernels.h"

namespace tigon {

// Each computes the columns [column_begin, column_end) of one row.
struct SwigluCpuKernels {
  void (*forward)(const SwigluForwardArgs& args, int64_t row, int64_t column_begin,
                  int64_t column_end);
  void (*backward)(const SwigluBackwardArgs& args, int64_t row, int64_t column_begin,
                   int64_t column_end);
};

namespace cpu_default {
extern const SwigluCpuKernels kSwiglu;
}
namespace cpu_avx2 {
extern const SwigluCpuKernels kSwiglu;
}
namespace cpu_avx512 {
extern const SwigluCpuKernels kSwiglu;
}

}  // namespace tigon
