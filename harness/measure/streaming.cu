#include <algorithm>

#include "harness/measure/streaming.h"

namespace tigon::harness {
namespace {

// kStreaming: loads and stores that tell the L2 that nobody comes back for the line.
template <bool kStreaming>
__device__ uint4 load(const uint4* p) {
  if constexpr (kStreaming) {
    return __ldcs(p);
  } else {
    return __ldg(p);
  }
}

template <bool kStreaming>
__device__ void store(uint4* p, uint4 v) {
  if constexpr (kStreaming) {
    __stcs(p, v);
  } else {
    *p = v;
  }
}

__device__ uint4 combine(uint4 a, uint4 b) {
  return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

// Each block takes tiles of blockDim.x * kUnroll vectors; all loads of a tile are in flight before
// the first store. With a grid of one tile each the loop runs once.
template <int kReads, int kWrites, int kUnroll, bool kStreaming>
__global__ void stream_kernel(const uint4* __restrict__ source, uint4* __restrict__ destination,
                              int64_t vectors) {
  const int64_t tile = int64_t{blockDim.x} * kUnroll;
  uint4 sum = make_uint4(0, 0, 0, 0);
  for (int64_t first = blockIdx.x * tile + threadIdx.x; first < vectors;
       first += gridDim.x * tile) {
    uint4 values[kUnroll][kReads > 0 ? kReads : 1];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int64_t i = first + int64_t{u} * blockDim.x;
#pragma unroll
      for (int r = 0; r < kReads; ++r) {
        values[u][r] = i < vectors ? load<kStreaming>(source + r * vectors + i) : sum;
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int64_t i = first + int64_t{u} * blockDim.x;
      uint4 value = make_uint4(1, 2, 3, 4);
#pragma unroll
      for (int r = 0; r < kReads; ++r) value = combine(value, values[u][r]);
      if constexpr (kWrites == 0) {
        sum = combine(sum, value);
      } else if (i < vectors) {
#pragma unroll
        for (int w = 0; w < kWrites; ++w) {
          store<kStreaming>(destination + w * vectors + i, value);
        }
      }
    }
  }
  // Keeps the loads of a mix that only reads: the compiler cannot know that no data looks like
  // this.
  if constexpr (kWrites == 0) {
    if (sum.x == 0x7469676fu && sum.y == 0x6e21u && sum.z == sum.x && sum.w == sum.y) {
      destination[0] = sum;
    }
  }
}

template <int kReads, int kWrites>
cudaError_t launch(const Streams& s, int variant, cudaStream_t stream) {
  // Vectors in flight in a thread: about 4 and about 8, whatever the number of arrays.
  constexpr int kArrays = kReads > 0 ? kReads : kWrites;
  constexpr int kFew = kArrays >= 4 ? 1 : 4 / kArrays;
  constexpr int kMany = kArrays >= 8 ? 1 : 8 / kArrays;
  const bool many = variant % 2 == 1;
  const bool streaming = variant / 2 == 1;
  const bool resident = variant / 2 == 2;  // a grid that fills the device once, and loops
  constexpr int kThreads = 256;

  using Kernel = void (*)(const uint4*, uint4*, int64_t);
  const Kernel kernel = many ? (streaming ? Kernel{&stream_kernel<kReads, kWrites, kMany, true>}
                                          : Kernel{&stream_kernel<kReads, kWrites, kMany, false>})
                             : (streaming ? Kernel{&stream_kernel<kReads, kWrites, kFew, true>}
                                          : Kernel{&stream_kernel<kReads, kWrites, kFew, false>});
  const int64_t tile = int64_t{kThreads} * (many ? kMany : kFew);
  int64_t blocks = (s.vectors + tile - 1) / tile;
  if (blocks == 0) return cudaSuccess;
  if (resident) {
    int device = 0;
    int sms = 0;
    int per_sm = 0;
    if (cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
    if (cudaError_t e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        e != cudaSuccess) {
      return e;
    }
    if (cudaError_t e =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, kThreads, size_t{0});
        e != cudaSuccess) {
      return e;
    }
    blocks = std::min<int64_t>(blocks, int64_t{sms} * per_sm);
  }
  blocks = std::min<int64_t>(blocks, 0x7fffffff);
  kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      static_cast<const uint4*>(s.source), static_cast<uint4*>(s.destination), s.vectors);
  return cudaGetLastError();
}

template <int kMix>
cudaError_t launch_mix(const Streams& s, int variant, cudaStream_t stream) {
  constexpr StreamMix mix = kStreamMixes[kMix];
  if (s.mix.reads == mix.reads && s.mix.writes == mix.writes) {
    return launch<mix.reads, mix.writes>(s, variant, stream);
  }
  if constexpr (kMix + 1 < static_cast<int>(kStreamMixes.size())) {
    return launch_mix<kMix + 1>(s, variant, stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t stream_cuda(const Streams& streams, int variant, cudaStream_t stream) {
  if (variant < 0 || variant >= kCudaStreamVariants) return cudaErrorInvalidValue;
  return launch_mix<0>(streams, variant, stream);
}

}  // namespace tigon::harness
