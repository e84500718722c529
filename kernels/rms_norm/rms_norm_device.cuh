// What the forward and the backward kernels of RMSNorm share: who works on which vectors, and how
// the casting modes treat the weight and r.
#pragma once

#include <type_traits>

#include "kernels/core/cuda/launch.cuh"
#include "kernels/core/cuda/reduce.cuh"
#include "kernels/core/cuda/vec.cuh"
#include "kernels/rms_norm/rms_norm_kernels.h"

namespace tigon::cuda {

// How a launch cuts up the work. All kernels of an operator take one, so that a plan can be tuned
// without touching a kernel.
struct RowPlan {
  RowSpan span = RowSpan::kBlock;
  int vecs = 1;             // 16-byte vectors per thread and row: 1, 2, 4 or 8
  int threads_per_row = 0;  // in one block; a power of two for kLanes
  int block_threads = 0;    // more than threads_per_row only for kLanes and kWarps
  int stages = 0;           // rows in flight in shared memory (backward)
  int cluster = 1;
  int64_t blocks = 0;  // clusters, where cluster > 1
};

// The part of the rows that a thread walks: rows first_row + row_offset, then every row_step-th;
// vectors `vec`, vec + threads, ... below end. All threads of a warp share first_row.
template <RowSpan kSpan>
struct Place {
  int64_t first_row, row_step;
  int row_offset, group, threads, begin, vec, end;
  bool leads_row;  // one thread of each row writes the row's scalars

  __device__ Place(int threads_per_row, int vecs_per_row) {
    constexpr bool kGroups = kSpan == RowSpan::kLanes || kSpan == RowSpan::kWarps;
    threads = kGroups ? threads_per_row : blockDim.x;
    group = kGroups ? threadIdx.x / threads : 0;
    const int groups = kGroups ? blockDim.x / threads : 1;
    begin = 0;
    end = vecs_per_row;
    vec = threadIdx.x - group * threads;
    leads_row = vec == 0;
    int64_t block = blockIdx.x, blocks = gridDim.x;
    if constexpr (kSpan == RowSpan::kCluster) {
      const int rank = cluster_rank(), size = cluster_size();
      const int slice = (vecs_per_row + size - 1) / size;
      block /= size;
      blocks /= size;
      leads_row = leads_row && rank == 0;
      begin = rank * slice;
      vec += begin;
      end = min(vecs_per_row, begin + slice);
    }
    row_step = blocks * groups;
    if constexpr (kSpan == RowSpan::kWarps) {
      // Block by block, then group by group: no block has more than one row more than another.
      first_row = block + group * blocks;
      row_offset = 0;
    } else {
      first_row = block * groups;
      row_offset = group;
    }
  }
};

// The weight's vector at index vec, ones if there is none. kLlama forms offset + w in w's type; in
// the other modes the offset is added in fp32 when the vector is used.
template <bool kLlama, typename W, int N>
__device__ __forceinline__ Vec<W, N> load_weight(const W* weight, int vec, float offset) {
  float values[N];
  if (weight == nullptr) {
#pragma unroll
    for (float& value : values) value = 1.0f;
    return pack<W, N>(values);
  }
  const Vec<W, N> raw = load_vec<N>(weight + static_cast<int64_t>(vec) * N);
  if constexpr (!kLlama) return raw;
  unpack(raw, values);
#pragma unroll
  for (float& value : values) value += offset;
  return pack<W, N>(values);
}

template <bool kLlama, typename W, int N>
__device__ __forceinline__ void unpack_weight(const Vec<W, N>& vec, float offset,
                                              float (&values)[N]) {
  unpack(vec, values);
  if constexpr (!kLlama) {
#pragma unroll
    for (float& value : values) value += offset;
  }
}

// The same for one element.
template <bool kLlama, typename W>
__device__ __forceinline__ float weight_at(const W* weight, int64_t column, float offset) {
  if (weight == nullptr) return 1.0f;
  const float value = to_float(weight[column]) + offset;
  return kLlama ? round_to<W>(value) : value;
}

// r = 1 / sqrt(mean + eps), correctly rounded: rsqrtf alone is 2 ulp off.
template <typename X>
__device__ __forceinline__ float row_rstd(float sum_of_squares, float inverse_hidden,
                                          const RmsNormForwardArgs& args) {
  const float r = __frsqrt_rn(fmaf(sum_of_squares, inverse_hidden, args.eps));
  return args.casting == RmsNormCasting::kNone ? round_to<X>(r) : r;
}

// Sums by vector first: chains of additions stay short, so the error does too.
template <int N>
__device__ __forceinline__ float sum_of_squares(const float (&values)[N]) {
  float sum = 0.0f;
#pragma unroll
  for (float value : values) sum = fmaf(value, value, sum);
  return sum;
}

// A serial fp32 sum of n random terms is off by about sqrt(n / 6) ulp. Sums of dw over at most this
// many rows are made in registers (3 ulp), then added to the sums before them.
inline constexpr int kRowsPerBlockedSum = 64;

// How the element-by-element kernels walk over the rows: a warp per row while that makes at most 32
// elements a lane, else a block.
struct StreamingShape {
  bool by_warps;
  int threads;  // per row
  LaunchShape launch;

  static constexpr int max_threads(RowSpan span) { return span == RowSpan::kLanes ? 256 : 512; }

  StreamingShape(int64_t rows, int64_t hidden) {
    by_warps = hidden <= 1024;
    threads = by_warps ? kWarpSize : hidden <= 8192 ? 256 : 512;
    launch.block = by_warps ? 256 : threads;
    const int64_t blocks = by_warps ? ceil_div(rows, 256 / kWarpSize) : rows;
    launch.grid = static_cast<unsigned>(std::min(blocks, kMaxGridX));
  }
};

// Calls function(X tag, W tag, llama) with the types of the launch. With everything in fp32 the
// casting modes round nothing and are one.
template <typename Function>
void dispatch_types(ScalarType x_type, ScalarType weight_type, RmsNormCasting casting,
                    Function&& function) {
  const bool llama = casting == RmsNormCasting::kLlama;
  dispatch_type(x_type, [&](auto x_tag) {
    using X = typename decltype(x_tag)::type;
    if constexpr (sizeof(X) == 4) {
      function(x_tag, x_tag, std::false_type{});
    } else {
      const auto with_casting = [&](auto weight_tag) {
        if (llama) {
          function(x_tag, weight_tag, std::true_type{});
        } else {
          function(x_tag, weight_tag, std::false_type{});
        }
      };
      if (weight_type == ScalarType::kFloat32 && x_type != ScalarType::kFloat32) {
        with_casting(TypeTag<float>{});
      } else {
        with_casting(x_tag);
      }
    }
  });
}

// Calls function(constant) with the plan's vectors per thread as a compile-time constant.
template <typename Function>
void dispatch_vecs(int vecs, Function&& function) {
  switch (vecs) {
    case 1:
      return function(std::integral_constant<int, 1>{});
    case 2:
      return function(std::integral_constant<int, 2>{});
    case 4:
      return function(std::integral_constant<int, 4>{});
    default:
      return function(std::integral_constant<int, 8>{});
  }
}

}  // namespace tigon::cuda
