// RMSNorm backward of any width and alignment, element by element: one kernel for dw's partial
// sums, one for dx. dy and x are read three times, mostly from the caches.
#pragma once

#include "kernels/rms_norm/rms_norm_device.cuh"

namespace tigon::cuda {

template <bool kLlama, typename X>
__device__ __forceinline__ float normalised(float x, float r) {
  return kLlama ? round_to<X>(x * r) : x * r;
}

inline constexpr int kStreamingColumns = 32, kStreamingRows = 8;

// Partial sums of dw over the rows blockIdx.y * 8 + threadIdx.y, + 8 * gridDim.y, ...
template <typename X, bool kLlama>
__global__ void __launch_bounds__(kStreamingColumns* kStreamingRows)
    dweight_streaming(const RmsNormBackwardArgs args) {
  const X* dy = static_cast<const X*>(args.dy);
  const X* x = static_cast<const X*>(args.x);
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kStreamingColumns + threadIdx.x;
  const int64_t step = static_cast<int64_t>(gridDim.y) * kStreamingRows;
  float total = 0.0f;
  if (column < args.hidden) {
    int64_t row = static_cast<int64_t>(blockIdx.y) * kStreamingRows + threadIdx.y;
    while (row < args.rows) {
      float sum = 0.0f;
#pragma unroll 4
      for (int i = 0; i < kRowsPerBlockedSum && row < args.rows; ++i, row += step) {
        const float value = to_float(x[row * args.x_row_stride + column]);
        sum = fmaf(to_float(dy[row * args.dy_row_stride + column]),
                   normalised<kLlama, X>(value, args.rstd[row]), sum);
      }
      total += sum;
    }
  }
  __shared__ float sums[kStreamingRows][kStreamingColumns];
  sums[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.y != 0 || column >= args.hidden) return;
  total = 0.0f;
#pragma unroll
  for (int i = 0; i < kStreamingRows; ++i) total += sums[i][threadIdx.x];
  args.workspace[static_cast<int64_t>(blockIdx.y) * args.hidden + column] = total;
}

// dx may be dy: a row is read to its end before it is written, and then element by element.
template <typename X, typename W, bool kLlama, RowSpan kSpan>
__global__ void __launch_bounds__(StreamingShape::max_threads(kSpan))
    dx_streaming(const RmsNormBackwardArgs args, const int threads_per_row) {
  const X* dy = static_cast<const X*>(args.dy);
  const X* x = static_cast<const X*>(args.x);
  const W* weight = static_cast<const W*>(args.weight);
  X* dx = static_cast<X*>(args.dx);
  const Place<kSpan> at(threads_per_row, 0);
  __shared__ typename RowSum<kSpan>::Storage storage;
  RowSum<kSpan> row_sum(storage, threads_per_row);
  const float inverse_hidden = 1.0f / static_cast<float>(args.hidden);

  for (int64_t first = at.first_row; first < args.rows; first += at.row_step) {
    const int64_t row = first + at.row_offset;
    const int64_t end = row < args.rows ? args.hidden : 0;
    const float r = row < args.rows ? args.rstd[row] : 0.0f;
    const X* dy_row = dy + row * args.dy_row_stride;
    const X* x_row = x + row * args.x_row_stride;
    constexpr int kBlock = 8;  // short chains of additions
    float dot = 0.0f;
    for (int64_t column = at.vec; column < end; column += kBlock * at.threads) {
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < kBlock; ++i) {
        const int64_t c = column + i * at.threads;
        if (c >= end) continue;
        sum = fmaf(to_float(dy_row[c]) * weight_at<kLlama>(weight, c, args.offset),
                   to_float(x_row[c]), sum);
      }
      dot += sum;
    }
    const float mean = r * row_sum.sum(dot) * inverse_hidden;
    const float projection = r * mean;
    X* dx_row = dx + row * args.hidden;
#pragma unroll 4
    for (int64_t column = at.vec; column < end; column += at.threads) {
      const float m = to_float(dy_row[column]) * weight_at<kLlama>(weight, column, args.offset);
      dx_row[column] = from_float<X>(r * fmaf(-projection, to_float(x_row[column]), m));
    }
  }
}

// Rows of partial sums that the streaming kernel of dw writes.
inline int64_t streaming_partials(const RmsNormBackwardArgs& args, const Device& device) {
  const int64_t tiles = std::max<int64_t>(1, ceil_div(args.hidden, kStreamingColumns));
  const int64_t most = std::max<int64_t>(1, int64_t{16} * device.multiprocessors / tiles);
  return std::min(ceil_div(args.rows, int64_t{kStreamingRows} * 8), most);
}

// dw's partial sums first: dx may then be written over dy.
inline void launch_backward_streaming(const RmsNormBackwardArgs& args, int64_t partials,
                                      cudaStream_t stream) {
  const StreamingShape shape(args.rows, args.hidden);
  LaunchShape columns;
  columns.block = dim3(kStreamingColumns, kStreamingRows);
  columns.grid = dim3(static_cast<unsigned>(ceil_div(args.hidden, kStreamingColumns)),
                      static_cast<unsigned>(partials));
  dispatch_types(args.x_type, args.weight_type, args.casting, [&](auto x, auto w, auto llama) {
    using X = typename decltype(x)::type;
    using W = typename decltype(w)::type;
    constexpr bool kLlama = decltype(llama)::value;
    if (args.dweight != nullptr) {
      launch<dweight_streaming<X, kLlama>>("rms_norm_backward (dweight, streaming)", columns,
                                           stream, args);
    }
    if (args.dx == nullptr) return;
    const char* name = "rms_norm_backward (dx, streaming)";
    if (shape.by_warps) {
      launch<dx_streaming<X, W, kLlama, RowSpan::kLanes>>(name, shape.launch, stream, args,
                                                          shape.threads);
    } else {
      launch<dx_streaming<X, W, kLlama, RowSpan::kBlock>>(name, shape.launch, stream, args,
                                                          shape.threads);
    }
  });
}

}  // namespace tigon::cuda
