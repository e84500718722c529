// The second half of a sum over rows: adds up what each block of a first kernel has left.
#pragma once

#include "kernels/core/cuda/async_copy.cuh"
#include "kernels/core/cuda/launch.cuh"
#include "kernels/core/cuda/reduce.cuh"
#include "kernels/core/cuda/vec.cuh"

namespace tigon::cuda {

// out[column] = sum over the rows of partials [count, columns]; 32 columns a block. It reads what
// the kernel before it has just written, from L2: mostly latency, so all of a thread's loads are on
// their way at once where count is a row per multiprocessor.
template <typename W, int kWarps, int kLoads>
__global__ void __launch_bounds__(kWarps* kWarpSize)
    sum_partials(const float* partials, const int64_t count, const int64_t columns, W* out) {
  __shared__ float sums[kWarps][kWarpSize];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kWarpSize + lane;
  wait_for_previous_kernel();
  float total = 0.0f;
  if (column < columns) {
    for (int64_t row = warp; row < count; row += kLoads * kWarps) {
      float values[kLoads];
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const int64_t index = row + i * kWarps;
        values[i] = index < count ? partials[index * columns + column] : 0.0f;
      }
      float sum = 0.0f;
#pragma unroll
      for (float value : values) sum += value;
      total += sum;
    }
  }
  sums[warp][lane] = total;
  __syncthreads();
  if (warp != 0 || column >= columns) return;
  float by_four[4] = {};
#pragma unroll
  for (int i = 0; i < kWarps; ++i) by_four[i % 4] += sums[i][lane];
  out[column] = from_float<W>((by_four[0] + by_four[1]) + (by_four[2] + by_four[3]));
}

// count may be 0: then out is zeroed.
template <int kWarps = 16, int kLoads = 9>
void launch_sum_partials(const char* name, const float* partials, int64_t count, int64_t columns,
                         void* out, ScalarType type, cudaStream_t stream) {
  LaunchShape shape;
  shape.grid = static_cast<unsigned>(ceil_div(columns, kWarpSize));
  shape.block = kWarps * kWarpSize;
  shape.overlaps_previous = true;
  dispatch_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<sum_partials<T, kWarps, kLoads>>(name, shape, stream, partials, count, columns,
                                            static_cast<T*>(out));
  });
}

}  // namespace tigon::cuda
