// RMSNorm backward on CUDA: dy and x are read once, dx is written once.
//
//   pipelined  Persistent blocks walk over the rows. Each thread copies its own vectors of the next
//              rows' dy and x to shared memory (cp.async), so that several rows are on their way
//              while one is reduced; it keeps the weight and its fp32 part of dw in registers and
//              reads the row a second time, for dx, from shared memory. One barrier a row. Rows
//              wider than a block's share are cut over a cluster.
//   streaming  Any width, any alignment: one kernel for dw's partial sums, one for dx.
//
// Each block leaves one row of partial sums of dw in the workspace; a second kernel, whose launch
// overlaps the end of the first, adds them up. No atomics: the order is fixed by sizes and device.
#include <type_traits>

#include "kernels/core/cuda/async_copy.cuh"
#include "kernels/core/cuda/sum_partials.cuh"
#include "kernels/rms_norm/rms_norm_backward_streaming.cuh"
#include "kernels/rms_norm/rms_norm_device.cuh"

namespace tigon::cuda {
namespace {

// Registers: 4 to 8 fp32 sums of dw per vector, and the weight.
constexpr int backward_max_threads(int vecs, RowSpan span) {
  return span == RowSpan::kLanes || vecs == 8 ? 256 : vecs == 4 ? 512 : 1024;
}

template <typename X, typename W, bool kLlama, int kVecs, RowSpan kSpan>
__global__ void __launch_bounds__(backward_max_threads(kVecs, kSpan))
    backward_pipelined(const RmsNormBackwardArgs args, const int threads_per_row,
                       const int stages) {
  constexpr int N = kVecSize<X>;
  extern __shared__ uint4 ring[];  // [stages][dy, x][kVecs][blockDim.x], then the lanes' sums
  const X* dy = static_cast<const X*>(args.dy);
  const X* x = static_cast<const X*>(args.x);
  const W* weight = static_cast<const W*>(args.weight);
  X* dx = static_cast<X*>(args.dx);
  const bool wants_dweight = args.dweight != nullptr;
  const Place<kSpan> at(threads_per_row, static_cast<int>(args.hidden / N));
  __shared__ typename RowSum<kSpan>::Storage storage;
  RowSum<kSpan> row_sum(storage, threads_per_row);
  const float inverse_hidden = 1.0f / static_cast<float>(args.hidden);

  enum { kDy, kX };
  const auto slot = [&](int stage, int tensor, int j) -> uint4& {
    return ring[((stage * 2 + tensor) * kVecs + j) * blockDim.x + threadIdx.x];
  };
  const auto fetch = [&](int64_t first, int stage) {
    const int64_t row = first + at.group;
    if (row < args.rows) {
      const X* dy_row = dy + row * args.dy_row_stride;
      const X* x_row = x + row * args.x_row_stride;
#pragma unroll
      for (int j = 0; j < kVecs; ++j) {
        const int vec = at.vec + j * at.threads;
        if (vec >= at.end) continue;
        copy_async_16(&slot(stage, kDy, j), dy_row + vec * N);
        copy_async_16(&slot(stage, kX, j), x_row + vec * N);
      }
    }
    copy_async_commit();  // also when there is nothing to copy: wait() counts groups
  };
  const auto rstd_of = [&](int64_t first) {
    const int64_t row = first + at.group;
    return row < args.rows ? args.rstd[row] : 0.0f;
  };

  for (int s = 0; s < stages - 1; ++s) fetch(at.first_row + s * at.row_step, s);
  float next_r = rstd_of(at.first_row);
  Vec<W, N> weights[kVecs];
  float dweight[kVecs][N];
#pragma unroll
  for (int j = 0; j < kVecs; ++j) {
    const int vec = at.vec + j * at.threads;
    if (vec < at.end) weights[j] = load_weight<kLlama, W, N>(weight, vec, args.offset);
#pragma unroll
    for (float& sum : dweight[j]) sum = 0.0f;
  }

  // Where this block's sums of dw go, and where they are carried while rows are left: for a row per
  // block in place, for several rows per block in shared memory, a row of sums for each group.
  float* partial_row = args.workspace;
  float* carried = nullptr;
  if constexpr (kSpan == RowSpan::kLanes) {
    partial_row += blockIdx.x * args.hidden;
    carried =
        reinterpret_cast<float*>(ring + stages * 2 * kVecs * blockDim.x) + at.group * args.hidden;
  } else {
    const int size = kSpan == RowSpan::kCluster ? cluster_size() : 1;
    partial_row += blockIdx.x / size * args.hidden;
    carried = partial_row;
  }
  bool has_carried = false;
  const auto carry = [&] {
#pragma unroll
    for (int j = 0; j < kVecs; ++j) {
      const int vec = at.vec + j * at.threads;
      if (vec >= at.end) continue;
#pragma unroll
      for (int i = 0; i < N; i += 4) {
        float4* four = reinterpret_cast<float4*>(carried + vec * N + i);
        float4 sum = has_carried ? *four : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        sum.x += dweight[j][i];
        sum.y += dweight[j][i + 1];
        sum.z += dweight[j][i + 2];
        sum.w += dweight[j][i + 3];
        *four = sum;
      }
#pragma unroll
      for (float& sum : dweight[j]) sum = 0.0f;
    }
    has_carried = true;
  };

  int stage = 0, rows_summed = 0;
  for (int64_t first = at.first_row; first < args.rows; first += at.row_step) {
    fetch(first + (stages - 1) * at.row_step, stage == 0 ? stages - 1 : stage - 1);
    const float r = next_r;
    next_r = rstd_of(first + at.row_step);
    copy_async_wait(stages - 1);

    const int64_t row = first + at.group;
    const int end = row < args.rows ? at.end : 0;
    float dot = 0.0f;  // sum(m * x)
#pragma unroll
    for (int j = 0; j < kVecs; ++j) {
      if (at.vec + j * at.threads >= end) continue;
      float dys[N], xs[N], factors[N];
      unpack(Vec<X, N>{slot(stage, kDy, j)}, dys);
      unpack(Vec<X, N>{slot(stage, kX, j)}, xs);
      unpack_weight<kLlama>(weights[j], args.offset, factors);
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < N; ++i) sum = fmaf(dys[i] * factors[i], xs[i], sum);
      dot += sum;
      if (wants_dweight) {
#pragma unroll
        for (int i = 0; i < N; ++i) xs[i] *= r;
        if constexpr (kLlama) round_all_to<X>(xs);
#pragma unroll
        for (int i = 0; i < N; ++i) dweight[j][i] = fmaf(dys[i], xs[i], dweight[j][i]);
      }
    }
    if (dx != nullptr) {
      // r * r * r would leave fp32's range where x is large.
      const float mean = r * row_sum.sum(dot) * inverse_hidden;
      const float projection = r * mean;
      X* dx_row = dx + row * args.hidden;
#pragma unroll
      for (int j = 0; j < kVecs; ++j) {
        const int vec = at.vec + j * at.threads;
        if (vec >= end) continue;
        float dys[N], xs[N], factors[N];
        unpack(Vec<X, N>{slot(stage, kDy, j)}, dys);
        unpack(Vec<X, N>{slot(stage, kX, j)}, xs);
        unpack_weight<kLlama>(weights[j], args.offset, factors);
#pragma unroll
        for (int i = 0; i < N; ++i) dys[i] = r * fmaf(-projection, xs[i], dys[i] * factors[i]);
        store_vec(dx_row + vec * N, pack<X, N>(dys));
      }
    }
    if (wants_dweight && ++rows_summed == kRowsPerBlockedSum) {
      carry();
      rows_summed = 0;
    }
    stage = stage + 1 == stages ? 0 : stage + 1;
  }

  allow_dependent_launch();
  if (!wants_dweight) return;
  if (rows_summed > 0 || !has_carried) carry();
  if constexpr (kSpan == RowSpan::kLanes) {
    __syncthreads();
    const int groups = blockDim.x / at.threads;
    const float* sums = carried - at.group * args.hidden;
    for (int column = threadIdx.x; column < args.hidden; column += blockDim.x) {
      float sum = 0.0f;
      for (int group = 0; group < groups; ++group) sum += sums[group * args.hidden + column];
      partial_row[column] = sum;
    }
  }
}

bool backward_is_aligned(const RmsNormBackwardArgs& args) {
  const int n = 16 / element_size(args.x_type);
  return args.hidden % n == 0 &&
         (args.rows <= 1 || (args.x_row_stride % n == 0 && args.dy_row_stride % n == 0)) &&
         aligned_16(args.x) && aligned_16(args.dy) && aligned_16(args.dx) &&
         aligned_16(args.weight);
}

int64_t backward_shared_bytes(const RowPlan& plan, int64_t hidden) {
  const int64_t ring = int64_t{plan.stages} * 2 * plan.vecs * plan.block_threads * 16;
  const int64_t groups =
      plan.span == RowSpan::kLanes ? plan.block_threads / plan.threads_per_row : 0;
  return ring + groups * hidden * 4;
}

// blocks == 0: this width does not fit, take the streaming kernels. Depends on sizes and types
// only: the workspace's size follows from it.
RowPlan plan_backward(const RmsNormBackwardArgs& args, const Device& device) {
  const int64_t vecs = args.hidden * element_size(args.x_type) / 16;
  RowPlan plan;
  if (vecs == 0) return plan;
  int64_t blocks_per_multiprocessor = 1, groups = 1;
  if (vecs <= 4 * kWarpSize) {
    plan.span = RowSpan::kLanes;
    plan.vecs = static_cast<int>(next_power_of_two(ceil_div(vecs, kWarpSize)));
    plan.threads_per_row = static_cast<int>(next_power_of_two(ceil_div(vecs, plan.vecs)));
    plan.block_threads = 128;
    plan.stages = 3;
    groups = plan.block_threads / plan.threads_per_row;
    blocks_per_multiprocessor = plan.vecs <= 2 ? 6 : 4;
  } else {
    // Up to 512 threads: with more, the barrier costs more than the shorter loop gains.
    plan.vecs = vecs <= 512 ? 1 : vecs <= 1024 ? 2 : 4;
    const int64_t per_block = int64_t{plan.vecs} * 512;
    if (vecs > per_block) {
      if (device.compute_major < 9 || vecs > kMaxCluster * per_block) return plan;
      plan.span = RowSpan::kCluster;
      plan.cluster = static_cast<int>(next_power_of_two(ceil_div(vecs, per_block)));
    }
    const int64_t threads = ceil_div(ceil_div(vecs, plan.cluster), plan.vecs);
    plan.threads_per_row = plan.block_threads = static_cast<int>(round_up(threads, kWarpSize));
    plan.stages = plan.vecs == 1 ? 4 : 3;
    blocks_per_multiprocessor = plan.cluster > 1 || plan.vecs == 4 ? 1
                                : plan.block_threads <= 256        ? 4
                                                                   : 2;
  }
  const int64_t shared_bytes = device.shared_bytes_per_block - 2048;
  while (plan.stages > 1 && backward_shared_bytes(plan, args.hidden) > shared_bytes) --plan.stages;
  if (backward_shared_bytes(plan, args.hidden) > shared_bytes) return plan;
  while (blocks_per_multiprocessor > 1 &&
         blocks_per_multiprocessor * backward_shared_bytes(plan, args.hidden) > shared_bytes)
    --blocks_per_multiprocessor;
  plan.blocks = std::min(ceil_div(args.rows, groups),
                         device.multiprocessors / plan.cluster * blocks_per_multiprocessor);
  return plan;
}

// The caller's workspace need not be aligned; the kernels write it by 16 bytes.
constexpr int64_t kWorkspaceSlack = 3;

float* align_workspace(float* workspace) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(workspace);
  return reinterpret_cast<float*>((address + 15) / 16 * 16);
}

template <typename X, typename W, bool kLlama, int kVecs, RowSpan kSpan>
void launch_backward_kernel(const RmsNormBackwardArgs& args, const RowPlan& plan,
                            cudaStream_t stream) {
  LaunchShape shape;
  shape.grid = static_cast<unsigned>(plan.blocks * plan.cluster);
  shape.block = plan.block_threads;
  shape.cluster = plan.cluster;
  shape.shared_bytes = static_cast<int>(backward_shared_bytes(plan, args.hidden));
  launch<backward_pipelined<X, W, kLlama, kVecs, kSpan>>(
      "rms_norm_backward (pipelined)", shape, stream, args, plan.threads_per_row, plan.stages);
}

void launch_backward(const RmsNormBackwardArgs& args, const RowPlan& plan, cudaStream_t stream) {
  dispatch_types(args.x_type, args.weight_type, args.casting, [&](auto x, auto w, auto llama) {
    using X = typename decltype(x)::type;
    using W = typename decltype(w)::type;
    constexpr bool kLlama = decltype(llama)::value;
    if (plan.span == RowSpan::kCluster) {
      return launch_backward_kernel<X, W, kLlama, 4, RowSpan::kCluster>(args, plan, stream);
    }
    dispatch_vecs(plan.vecs, [&](auto vecs) {
      constexpr int kVecs = decltype(vecs)::value;
      if (plan.span == RowSpan::kLanes) {
        launch_backward_kernel<X, W, kLlama, kVecs, RowSpan::kLanes>(args, plan, stream);
      } else {
        launch_backward_kernel<X, W, kLlama, kVecs, RowSpan::kBlock>(args, plan, stream);
      }
    });
  });
}

}  // namespace
}  // namespace tigon::cuda

namespace tigon {

int64_t rms_norm_backward_workspace_cuda(const RmsNormBackwardArgs& args) {
  if (args.dweight == nullptr || args.rows == 0 || args.hidden == 0) return 0;
  const cuda::Device& device = cuda::current_device();
  const int64_t partials =
      std::max(cuda::plan_backward(args, device).blocks, cuda::streaming_partials(args, device));
  return partials * args.hidden + cuda::kWorkspaceSlack;
}

void rms_norm_backward_cuda(const RmsNormBackwardArgs& args, cudaStream_t stream) {
  if (args.hidden == 0 || (args.dx == nullptr && args.dweight == nullptr)) return;
  RmsNormBackwardArgs effective = args;
  if (args.weight == nullptr) effective.offset = 0.0f;
  if (args.dweight != nullptr) effective.workspace = cuda::align_workspace(args.workspace);
  int64_t partials = 0;
  if (args.rows > 0) {
    const cuda::Device& device = cuda::current_device();
    const cuda::RowPlan plan = cuda::plan_backward(effective, device);
    if (plan.blocks > 0 && cuda::backward_is_aligned(effective)) {
      partials = plan.blocks;
      cuda::launch_backward(effective, plan, stream);
    } else {
      partials = cuda::streaming_partials(effective, device);
      cuda::launch_backward_streaming(effective, partials, stream);
    }
  }
  if (args.dweight != nullptr) {
    cuda::launch_sum_partials("rms_norm_backward (sum of partials)", effective.workspace, partials,
                              args.hidden, args.dweight, args.weight_type, stream);
  }
}

}  // namespace tigon
