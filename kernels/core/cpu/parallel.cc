// Compile with -fopenmp: LibTorch's parallel_for is a header, and without it runs on one thread.
#include "kernels/core/cpu/parallel.h"

#include <ATen/Parallel.h>

#ifndef _OPENMP
#error "compile this file with -fopenmp"
#endif

namespace tigon::internal {

void parallel_for(int64_t count, int64_t grain, void (*body)(const void*, int64_t, int64_t),
                  const void* context) {
  at::parallel_for(0, count, grain, [=](int64_t begin, int64_t end) { body(context, begin, end); });
}

}  // namespace tigon::internal
