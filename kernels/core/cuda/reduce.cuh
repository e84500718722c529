// Sums over the threads that share a row. The order of the additions depends on the number of
// threads alone, so the same input gives the same bits.
#pragma once

#include <cstdint>

namespace tigon::cuda {

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxWarps = 32;
inline constexpr int kMaxCluster = 8;  // the largest that every device of compute 9.0 can place

// Who shares a row: 1 to 32 lanes of a warp (a power of two), some warps of a block, a block, or a
// cluster of blocks.
enum class RowSpan { kLanes, kWarps, kBlock, kCluster };

inline constexpr int kMaxNamedBarriers = 15;  // of a block, besides that of __syncthreads

// The total in every one of `lanes` neighbouring lanes. All lanes of the warp must call it.
__device__ __forceinline__ float lanes_sum(float value, int lanes = kWarpSize) {
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ uint32_t cluster_size() {
  uint32_t size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// Writes to the same variable of another block of the cluster.
__device__ __forceinline__ void cluster_store(float* variable, uint32_t rank, float value) {
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(variable));
  asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(rank));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}
#else
// Older devices are never given a cluster launch; these let the kernels compile.
__device__ __forceinline__ uint32_t cluster_rank() { return 0; }
__device__ __forceinline__ uint32_t cluster_size() { return 1; }
__device__ __forceinline__ void cluster_barrier() {}
__device__ __forceinline__ void cluster_store(float* variable, uint32_t, float value) {
  *variable = value;
}
#endif

// Row after row with one barrier each: the exchange buffers alternate, and a thread can be at most
// one row ahead of the slowest. Every thread of the block (cluster) calls init() once, then sum()
// once a row.
template <RowSpan kSpan>
class RowSum;

template <>
class RowSum<RowSpan::kLanes> {
 public:
  struct Storage {};
  __device__ RowSum(Storage&, int lanes) : lanes_(lanes) {}
  __device__ __forceinline__ float sum(float value) { return lanes_sum(value, lanes_); }

 private:
  int lanes_;
};

template <>
class RowSum<RowSpan::kBlock> {
 public:
  struct Storage {
    alignas(16) float warps[2][kMaxWarps];
  };
  __device__ RowSum(Storage& storage, int) : storage_(storage) {
    if (threadIdx.x < kMaxWarps) storage_.warps[0][threadIdx.x] = 0.0f;
    if (threadIdx.x < kMaxWarps) storage_.warps[1][threadIdx.x] = 0.0f;
    __syncthreads();
  }
  __device__ __forceinline__ float sum(float value) {
    value = warp_sum(value);
    float* warps = storage_.warps[parity_];
    parity_ ^= 1;
    if (threadIdx.x % kWarpSize == 0) warps[threadIdx.x / kWarpSize] = value;
    __syncthreads();
    // Every thread adds the warps' sums itself: cheaper than a second barrier.
    float total = 0.0f;
    for (int i = 0; i < blockDim.x; i += 4 * kWarpSize) {
      const float4 four = *reinterpret_cast<const float4*>(warps + i / kWarpSize);
      total += (four.x + four.y) + (four.z + four.w);
    }
    return total;
  }

 private:
  Storage& storage_;
  int parity_ = 0;
};

// A block walks over several rows at once, each group of warps with a barrier of its own.
template <>
class RowSum<RowSpan::kWarps> {
 public:
  struct Storage {
    alignas(16) float warps[2][2 * kMaxWarps];  // groups are padded to a multiple of 4 warps
  };
  __device__ RowSum(Storage& storage, int threads)
      : storage_(storage),
        threads_(threads),
        group_(threadIdx.x / threads),
        pitch_((threads / kWarpSize + 3) / 4 * 4) {
    for (int i = threadIdx.x; i < 2 * 2 * kMaxWarps; i += blockDim.x)
      (&storage.warps[0][0])[i] = 0.0f;
    __syncthreads();
  }
  __device__ __forceinline__ float sum(float value) {
    value = warp_sum(value);
    float* warps = storage_.warps[parity_] + group_ * pitch_;
    parity_ ^= 1;
    if (threadIdx.x % kWarpSize == 0)
      warps[threadIdx.x / kWarpSize - group_ * (threads_ / kWarpSize)] = value;
    asm volatile("bar.sync %0, %1;" ::"r"(group_ + 1), "r"(threads_) : "memory");
    float total = 0.0f;
    for (int i = 0; i < pitch_; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(warps + i);
      total += (four.x + four.y) + (four.z + four.w);
    }
    return total;
  }

 private:
  Storage& storage_;
  int threads_, group_, pitch_;
  int parity_ = 0;
};

template <>
class RowSum<RowSpan::kCluster> {
 public:
  struct Storage {
    RowSum<RowSpan::kBlock>::Storage block;
    alignas(16) float blocks[2][kMaxCluster];
  };
  __device__ RowSum(Storage& storage, int) : storage_(storage), block_(storage.block, 0) {
    cluster_barrier();  // the others' shared memory exists from here on
  }
  __device__ __forceinline__ float sum(float value) {
    value = block_.sum(value);
    const int size = cluster_size();
    if (threadIdx.x < size)
      cluster_store(&storage_.blocks[parity_][cluster_rank()], threadIdx.x, value);
    cluster_barrier();
    float total = 0.0f;
    for (int i = 0; i < size; ++i) total += storage_.blocks[parity_][i];
    parity_ ^= 1;
    return total;
  }

 private:
  Storage& storage_;
  RowSum<RowSpan::kBlock> block_;
  int parity_ = 0;
};

}  // namespace tigon::cuda
