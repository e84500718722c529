// What rms_norm_cpu.cc asks of the build for each CPU capability.
#pragma once

#include <cstdint>

#include "kernels/rms_norm/rms_norm_kernels.h"

namespace tigon {

struct RmsNormCpuKernels {
  // Rows [row_begin, row_end); no row's result depends on the range.
  void (*forward)(const RmsNormForwardArgs& args, int64_t row_begin, int64_t row_end);

  // The same for dx. When args.dweight is not null, also writes the fp32 sum over these rows of
  // dy * (x * r) to partial[hidden]. For many rows, that sum is taken over spans of `span_rows`
  // rows first, in span[hidden]; span may be null when the range is no longer than span_rows.
  void (*backward)(const RmsNormBackwardArgs& args, int64_t row_begin, int64_t row_end,
                   float* partial, float* span, int64_t span_rows);

  // Columns [column_begin, column_end) of dweight: the pairwise sum of partials[count, hidden],
  // which is overwritten.
  void (*reduce_dweight)(const RmsNormBackwardArgs& args, float* partials, int64_t count,
                         int64_t column_begin, int64_t column_end);
};

namespace cpu_default {
extern const RmsNormCpuKernels kRmsNorm;
}
namespace cpu_avx2 {
extern const RmsNormCpuKernels kRmsNorm;
}
namespace cpu_avx512 {
extern const RmsNormCpuKernels kRmsNorm;
}

}  // namespace tigon
