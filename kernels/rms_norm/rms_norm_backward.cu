// RMSNorm backward on CUDA: dy and x are read once, dx is written once.
//
//   pipelined  Persistent blocks, one on each multiprocessor; their groups of threads have rows of
//              their own. A thread copies its vectors of the next row's dy and x to shared memory
//              (cp.async) while the group reduces this one. It keeps the weight and its fp32 part
//              of dw in registers and reads the row again, for dx, from shared memory. One barrier
//              a row, of the group alone: the other groups' copies go on. Rows wider than a block's
//              share are cut over a cluster.
//   streaming  Any width, any alignment: one kernel for dw's partial sums, one for dx.
//
// Each block adds up its groups' sums of dw and leaves one row of them in the workspace; a second
// kernel adds up the blocks'. No atomics: the order is fixed by sizes and device. The second kernel
// is launched as a dependent of the first, which triggers it only by its end. A trigger at the
// start was mostly slower (H200, 8192 rows, bf16): hidden 2048 1.1 us, 4096 0.2, 8192 1.4, 16384
// none; but 5120 0.5 us faster, and 4096 x 16384 in fp32 1.5.
#include <type_traits>

#include "kernels/core/cuda/async_copy.cuh"
#include "kernels/core/cuda/sum_partials.cuh"
#include "kernels/rms_norm/rms_norm_backward_plan.cuh"
#include "kernels/rms_norm/rms_norm_backward_streaming.cuh"
#include "kernels/rms_norm/rms_norm_device.cuh"

namespace tigon::cuda {
namespace {

__device__ __forceinline__ float4 load(const float* address) {
  return *reinterpret_cast<const float4*>(address);
}
__device__ __forceinline__ float4 add(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

template <typename X, typename W, bool kLlama, int kVecs, RowSpan kSpan>
__global__ void __launch_bounds__(backward_max_threads(kVecs, kSpan))
    backward_pipelined(const RmsNormBackwardArgs args, const int threads_per_row,
                       const int stages) {
  constexpr int N = kVecSize<X>;
  // [stages][dy, x][kVecs][blockDim.x]; at the end the groups' sums, [groups][hidden] floats.
  extern __shared__ uint4 ring[];
  __shared__ typename RowSum<kSpan>::Storage storage;
  const X* dy = static_cast<const X*>(args.dy);
  const X* x = static_cast<const X*>(args.x);
  const W* weight = static_cast<const W*>(args.weight);
  X* dx = static_cast<X*>(args.dx);
  const bool wants_dweight = args.dweight != nullptr;
  const float inverse_hidden = 1.0f / static_cast<float>(args.hidden);
  const Place<kSpan> at(threads_per_row, static_cast<int>(args.hidden / N));

  enum { kDy, kX };
  const auto slot = [&](int stage, int tensor, int j) -> uint4& {
    return ring[((stage * 2 + tensor) * kVecs + j) * blockDim.x + threadIdx.x];
  };
  const auto fetch = [&](int64_t first, int stage) {
    const int64_t row = first + at.row_offset;
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
    const int64_t row = first + at.row_offset;
    return row < args.rows ? args.rstd[row] : 0.0f;
  };

  for (int s = 0; s < stages - 1; ++s) fetch(at.first_row + s * at.row_step, s);
  float next_r = rstd_of(at.first_row);
  RowSum<kSpan> row_sum(storage, threads_per_row);  // its barrier: behind the first copies
  Vec<W, N> weights[kVecs];
  float dweight[kVecs][N];
#pragma unroll
  for (int j = 0; j < kVecs; ++j) {
    const int vec = at.vec + j * at.threads;
    if (vec < at.end) weights[j] = load_weight<kLlama, W, N>(weight, vec, args.offset);
#pragma unroll
    for (float& sum : dweight[j]) sum = 0.0f;
  }

  // Each block (cluster) leaves one row of partial sums. Groups with more rows than may be summed
  // in one go carry their sums in rows of their own behind those.
  const int block = kSpan == RowSpan::kCluster ? blockIdx.x / cluster_size() : blockIdx.x;
  const int blocks = kSpan == RowSpan::kCluster ? gridDim.x / cluster_size() : gridDim.x;
  const int groups = blockDim.x / at.threads;
  float* partial = args.workspace + block * args.hidden;
  float* carried = args.workspace + (blocks + int64_t{block} * groups + at.group) * args.hidden;
  bool has_carried = false;
  const auto leave_sums = [&](float* row) {
#pragma unroll
    for (int j = 0; j < kVecs; ++j) {
      const int vec = at.vec + j * at.threads;
      if (vec >= at.end) continue;
#pragma unroll
      for (int i = 0; i < N; i += 4) {
        float4 sum =
            make_float4(dweight[j][i], dweight[j][i + 1], dweight[j][i + 2], dweight[j][i + 3]);
        if (has_carried) sum = add(load(carried + vec * N + i), sum);
        *reinterpret_cast<float4*>(row + vec * N + i) = sum;
      }
    }
  };

  int stage = 0, rows_summed = 0;
  for (int64_t first = at.first_row; first < args.rows; first += at.row_step) {
    fetch(first + (stages - 1) * at.row_step, stage == 0 ? stages - 1 : stage - 1);
    const float r = next_r;
    next_r = rstd_of(first + at.row_step);
    copy_async_wait(stages - 1);

    const int64_t row = first + at.row_offset;
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
    // r * r * r would leave fp32's range where x is large.
    const float mean = r * row_sum.sum(dot) * inverse_hidden;
    const float projection = r * mean;
    if (dx != nullptr) {
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
      leave_sums(carried);
      has_carried = true;
      rows_summed = 0;
#pragma unroll
      for (auto& sums : dweight) {
#pragma unroll
        for (float& sum : sums) sum = 0.0f;
      }
    }
    stage = stage + 1 == stages ? 0 : stage + 1;
  }

  if (!wants_dweight) return;
  if constexpr (kSpan == RowSpan::kCluster) {
    leave_sums(partial);
  } else {
    float* sums = reinterpret_cast<float*>(ring);
    __syncthreads();
    leave_sums(sums + at.group * args.hidden);
    __syncthreads();
    for (int column = 4 * threadIdx.x; column < args.hidden; column += 4 * blockDim.x) {
      float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      // By 16 of what may be 256 groups: short chains of additions.
      for (int group = 0; group < groups;) {
        const int last = min(groups, group + 16);
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (; group < last; ++group) sum = add(sum, load(sums + group * args.hidden + column));
        total = add(total, sum);
      }
      *reinterpret_cast<float4*>(partial + column) = total;
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
    if (plan.span == RowSpan::kLanes) {
      return launch_backward_kernel<X, W, kLlama, 2, RowSpan::kLanes>(args, plan, stream);
    }
    dispatch_vecs(plan.vecs, [&](auto vecs) {
      constexpr int kVecs = decltype(vecs)::value;
      if constexpr (kVecs < 8 || sizeof(X) < 4) {
        launch_backward_kernel<X, W, kLlama, kVecs, RowSpan::kWarps>(args, plan, stream);
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
  const cuda::RowPlan plan = cuda::plan_backward(args, device);
  const int64_t partials = std::max(cuda::backward_workspace_rows(plan, args.rows),
                                    cuda::streaming_partials(args, device));
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
