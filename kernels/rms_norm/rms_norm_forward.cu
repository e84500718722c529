// RMSNorm forward on CUDA: one read of x, one write of y, the row kept on the chip in between.
//
//   in registers  One row per group of threads, one group of rows per block: as blocks come and go,
//                 the reads of some overlap the writes of others. Persistent blocks that copied
//                 their next rows ahead were no faster. Rows wider than a block's share are cut
//                 over a cluster.
//   streaming     Any width, any alignment: element by element, x read twice.
#include <cmath>
#include <type_traits>

#include "kernels/rms_norm/rms_norm_device.cuh"
#include "kernels/rms_norm/rms_norm_forward_streaming.cuh"

namespace tigon::cuda {
namespace {

template <bool kLlama, typename X, typename W, int N>
__device__ __forceinline__ Vec<X, N> normalise(const Vec<X, N>& x, const Vec<W, N>& weight, float r,
                                               float offset) {
  float values[N], factors[N];
  unpack(x, values);
  unpack_weight<kLlama>(weight, offset, factors);
#pragma unroll
  for (float& value : values) value *= r;
  if constexpr (kLlama) round_all_to<X>(values);
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] *= factors[i];
  return pack<X, N>(values);
}

constexpr int forward_max_threads(int vecs, RowSpan span) {
  return span == RowSpan::kLanes ? 256 : vecs >= 4 ? 512 : 1024;
}

// With up to 2 vectors a thread 32 registers are enough, and 2048 threads fit on a multiprocessor:
// 2048 takes 22.5 us, else 24.8; 3584 33.9, else 43.5. Wider rows are left to the compiler (0):
// asked for one block, it takes so many registers that 16384 needs 205 us instead of 147.
constexpr int forward_min_blocks(int vecs) { return vecs <= 2 ? 2 : 0; }

template <typename X, typename W, bool kLlama, int kVecs, RowSpan kSpan>
__global__ void __launch_bounds__(forward_max_threads(kVecs, kSpan), forward_min_blocks(kVecs))
    forward_in_registers(const RmsNormForwardArgs args, const int threads_per_row) {
  constexpr int N = kVecSize<X>;
  const X* x = static_cast<const X*>(args.x);
  const W* weight = static_cast<const W*>(args.weight);
  X* y = static_cast<X*>(args.y);
  const Place<kSpan> at(threads_per_row, static_cast<int>(args.hidden / N));
  __shared__ typename RowSum<kSpan>::Storage storage;
  RowSum<kSpan> row_sum(storage, threads_per_row);
  const float inverse_hidden = 1.0f / static_cast<float>(args.hidden);

  for (int64_t first = at.first_row; first < args.rows; first += at.row_step) {
    const int64_t row = first + at.row_offset;
    const int end = row < args.rows ? at.end : 0;
    const X* x_row = x + row * args.x_row_stride;
    Vec<X, N> held_x[kVecs];
#pragma unroll
    for (int j = 0; j < kVecs; ++j) {
      const int vec = at.vec + j * at.threads;
      held_x[j] = vec < end ? load_vec<N>(x_row + vec * N) : zero_vec<N, X>();
    }
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kVecs; ++j) {
      float values[N];
      unpack(held_x[j], values);
      sum += sum_of_squares(values);
    }
    const float r = row_rstd<X>(row_sum.sum(sum), inverse_hidden, args);
    X* y_row = y + row * args.hidden;
#pragma unroll
    for (int j = 0; j < kVecs; ++j) {
      const int vec = at.vec + j * at.threads;
      if (vec >= end) continue;
      // Not before the row's own reads: they would wait for the weight, which is made ready for
      // use.
      const Vec<W, N> factor = load_weight<kLlama, W, N>(weight, vec, args.offset);
      store_vec(y_row + vec * N, normalise<kLlama>(held_x[j], factor, r, args.offset));
    }
    if (at.leads_row && end > 0) args.rstd[row] = r;
  }
}

bool forward_is_aligned(const RmsNormForwardArgs& args) {
  const int n = 16 / element_size(args.x_type);
  return args.hidden % n == 0 && (args.rows <= 1 || args.x_row_stride % n == 0) &&
         aligned_16(args.x) && aligned_16(args.y) && aligned_16(args.weight);
}

// The percentages are of a copy of the same bytes: H200, bf16, 8192 rows, cold L2.
RowPlan plan_forward(const RmsNormForwardArgs& args, const Device& device) {
  const int64_t vecs = args.hidden * element_size(args.x_type) / 16;
  const bool few_rows = args.rows < 2 * device.multiprocessors;
  RowPlan plan;
  if (vecs <= 2 * kWarpSize) {
    // hidden 128: 89 %; with one vector a lane 84 %.
    plan.span = RowSpan::kLanes;
    plan.vecs = 2;
    plan.threads_per_row = static_cast<int>(next_power_of_two(ceil_div(vecs, 2)));
    plan.block_threads = 128;
    plan.blocks = ceil_div(args.rows, plan.block_threads / plan.threads_per_row);
    return plan;
  }
  if (vecs > 8 * 512) {
    plan.span = RowSpan::kCluster;
    plan.vecs = 4;
    plan.cluster = kMaxCluster;  // 1024 x 65536: 130 us; by 4 blocks of 512 threads 184
  } else if (few_rows) {
    // As many threads as the row has vectors: 64 x 8192 takes 5.7 us.
    plan.vecs = vecs <= 1024 ? 1 : vecs <= 2048 ? 2 : 8;
  } else {
    // Up to 512 threads a row, so that several blocks on a multiprocessor hide each other's
    // barriers; held to 32 registers so that more of them fit, 8192 took 77 us and 16384 163.
    plan.vecs = vecs <= 448 ? 2 : vecs <= 2048 ? 4 : 8;
  }
  const int64_t threads = ceil_div(ceil_div(vecs, plan.cluster), plan.vecs);
  plan.threads_per_row = plan.block_threads = static_cast<int>(round_up(threads, kWarpSize));
  plan.blocks = args.rows;
  return plan;
}

template <typename X, typename W, bool kLlama, int kVecs, RowSpan kSpan>
void launch_in_registers(const RmsNormForwardArgs& args, const RowPlan& plan, cudaStream_t stream) {
  LaunchShape shape;
  shape.grid =
      static_cast<unsigned>(std::min(plan.blocks, kMaxGridX / plan.cluster) * plan.cluster);
  shape.block = plan.block_threads;
  shape.cluster = plan.cluster;
  launch<forward_in_registers<X, W, kLlama, kVecs, kSpan>>("rms_norm_forward (in registers)", shape,
                                                           stream, args, plan.threads_per_row);
}

void launch_forward(const RmsNormForwardArgs& args, const RowPlan& plan, cudaStream_t stream) {
  dispatch_types(args.x_type, args.weight_type, args.casting, [&](auto x, auto w, auto llama) {
    using X = typename decltype(x)::type;
    using W = typename decltype(w)::type;
    constexpr bool kLlama = decltype(llama)::value;
    if (plan.span == RowSpan::kCluster) {
      return launch_in_registers<X, W, kLlama, 4, RowSpan::kCluster>(args, plan, stream);
    }
    if (plan.span == RowSpan::kLanes) {
      return launch_in_registers<X, W, kLlama, 2, RowSpan::kLanes>(args, plan, stream);
    }
    dispatch_vecs(plan.vecs, [&](auto vecs) {
      launch_in_registers<X, W, kLlama, decltype(vecs)::value, RowSpan::kBlock>(args, plan, stream);
    });
  });
}

}  // namespace
}  // namespace tigon::cuda

namespace tigon {

void rms_norm_forward_cuda(const RmsNormForwardArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  RmsNormForwardArgs effective = args;
  if (args.weight == nullptr) effective.offset = 0.0f;
  const cuda::Device& device = cuda::current_device();
  // Past 8 vectors of 512 threads, a cluster of blocks with 4 vectors a thread.
  const int64_t most_vecs =
      device.compute_major >= 9 ? int64_t{cuda::kMaxCluster} * 4 * 512 : 8 * 512;
  const bool in_registers =
      args.hidden > 0 && args.hidden * element_size(args.x_type) <= 16 * most_vecs;
  if (in_registers && cuda::forward_is_aligned(effective)) {
    cuda::launch_forward(effective, cuda::plan_forward(effective, device), stream);
  } else {
    cuda::launch_forward_streaming(effective, stream);
  }
}

}  // namespace tigon
