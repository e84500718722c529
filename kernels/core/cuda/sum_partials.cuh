// The second half of a sum over rows: adds up what each block of a first kernel has left.
#pragma once

#include "kernels/core/cuda/async_copy.cuh"
#include "kernels/core/cuda/launch.cuh"
#include "kernels/core/cuda/reduce.cuh"
#include "kernels/core/cuda/vec.cuh"

namespace tigon::cuda {

// out[column] = sum over the rows of partials [count, columns]; 32 columns and 32 rows at a time.
// It reads what the kernel before it has just written, from L2, and takes 2 to 3 us: mostly
// latency, so each thread keeps 8 loads on their way.
template <typename W>
__global__ void __launch_bounds__(1024)
    sum_partials(const float* partials, const int64_t count, const int64_t columns, W* out) {
  __shared__ float sums[kWarpSize][kWarpSize + 1];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kWarpSize;
  const int64_t column = first_column + lane;
  wait_for_previous_kernel();
  float total = 0.0f;
  if (column < columns) {
    for (int64_t row = warp; row < count; row += 8 * kWarpSize) {
      float values[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int64_t index = row + i * kWarpSize;
        values[i] = index < count ? partials[index * columns + column] : 0.0f;
      }
      total += ((values[0] + values[1]) + (values[2] + values[3])) +
               ((values[4] + values[5]) + (values[6] + values[7]));
    }
  }
  sums[warp][lane] = total;
  __syncthreads();
  total = warp_sum(sums[lane][warp]);
  if (lane == 0 && first_column + warp < columns) out[first_column + warp] = from_float<W>(total);
}

// count may be 0: then out is zeroed.
inline void launch_sum_partials(const char* name, const float* partials, int64_t count,
                                int64_t columns, void* out, ScalarType type, cudaStream_t stream) {
  LaunchShape shape;
  shape.grid = static_cast<unsigned>(ceil_div(columns, kWarpSize));
  shape.block = kWarpSize * kWarpSize;
  shape.overlaps_previous = true;
  dispatch_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<sum_partials<T>>(name, shape, stream, partials, count, columns, static_cast<T*>(out));
  });
}

}  // namespace tigon::cuda
