// RMSNorm forward of any width and alignment, element by element: for rows that are odd, misaligned
// or too wide to be kept on the chip. x is read twice, mostly from the caches.
#pragma once

#include "kernels/rms_norm/rms_norm_device.cuh"

namespace tigon::cuda {

template <typename X, typename W, bool kLlama, RowSpan kSpan>
__global__ void __launch_bounds__(StreamingShape::max_threads(kSpan))
    forward_streaming(const RmsNormForwardArgs args, const int threads_per_row) {
  const X* x = static_cast<const X*>(args.x);
  const W* weight = static_cast<const W*>(args.weight);
  X* y = static_cast<X*>(args.y);
  const Place<kSpan> at(threads_per_row, 0);
  __shared__ typename RowSum<kSpan>::Storage storage;
  RowSum<kSpan> row_sum(storage, threads_per_row);
  const float inverse_hidden = 1.0f / static_cast<float>(args.hidden);

  for (int64_t first = at.first_row; first < args.rows; first += at.row_step) {
    const int64_t row = first + at.row_offset;
    const int64_t end = row < args.rows ? args.hidden : 0;
    const X* x_row = x + row * args.x_row_stride;
    constexpr int kBlock = 8;  // as in the other kernels, short chains of additions
    float sum = 0.0f;
    for (int64_t column = at.vec; column < end; column += kBlock * at.threads) {
      float values[kBlock];
#pragma unroll
      for (int i = 0; i < kBlock; ++i) {
        const int64_t c = column + i * at.threads;
        values[i] = c < end ? to_float(x_row[c]) : 0.0f;
      }
      sum += sum_of_squares(values);
    }
    const float r = row_rstd<X>(row_sum.sum(sum), inverse_hidden, args);
    X* y_row = y + row * args.hidden;
#pragma unroll 4
    for (int64_t column = at.vec; column < end; column += at.threads) {
      float value = to_float(x_row[column]) * r;
      if constexpr (kLlama) value = round_to<X>(value);
      y_row[column] = from_float<X>(value * weight_at<kLlama>(weight, column, args.offset));
    }
    if (at.leads_row && row < args.rows) args.rstd[row] = r;
  }
}

inline void launch_forward_streaming(const RmsNormForwardArgs& args, cudaStream_t stream) {
  const StreamingShape shape(args.rows, args.hidden);
  dispatch_types(args.x_type, args.weight_type, args.casting, [&](auto x, auto w, auto llama) {
    using X = typename decltype(x)::type;
    using W = typename decltype(w)::type;
    constexpr bool kLlama = decltype(llama)::value;
    const char* name = "rms_norm_forward (streaming)";
    if (shape.by_warps) {
      launch<forward_streaming<X, W, kLlama, RowSpan::kLanes>>(name, shape.launch, stream, args,
                                                               shape.threads);
    } else {
      launch<forward_streaming<X, W, kLlama, RowSpan::kBlock>>(name, shape.launch, stream, args,
                                                               shape.threads);
    }
  });
}

}  // namespace tigon::cuda
