// Kernels that do nothing but read and write: what the memory of a device can do for a mix of reads
// and writes. No torch header.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

namespace tigon::harness {

// Arrays read and arrays written, all of the same length: rms_norm forward reads one and writes
// one, a product of two reads two and writes one.
struct StreamMix {
  int reads;
  int writes;
};

inline constexpr std::array<StreamMix, 13> kStreamMixes = {{{1, 0},
                                                            {4, 1},
                                                            {3, 1},
                                                            {2, 1},
                                                            {5, 3},
                                                            {3, 2},
                                                            {4, 3},
                                                            {1, 1},
                                                            {3, 4},
                                                            {2, 3},
                                                            {1, 2},
                                                            {1, 3},
                                                            {0, 1}}};

// The mix whose share of reads is nearest to that of the given bytes, which are not both 0.
StreamMix nearest_mix(int64_t bytes_read, int64_t bytes_written);

// Elements are vectors of 16 bytes. Array i of the `mix.reads` arrays that are read begins at
// source + i * vectors, likewise those that are written; the base pointers are aligned to 16 bytes.
// What is written has nothing to do with meaning; a mix that only reads writes nothing.
struct Streams {
  StreamMix mix;
  const void* source;
  void* destination;
  int64_t vectors;  // in each array
};

// Several ways of doing the same: none is best at every size.
inline constexpr int kCudaStreamVariants = 6;
// Throws nothing; an unknown mix or variant is cudaErrorInvalidValue.
cudaError_t stream_cuda(const Streams& streams, int variant, cudaStream_t stream);

// Ordinary stores, and stores that go round the cache.
inline constexpr int kCpuStreamVariants = 2;
// On all threads of at::parallel_for. Throws std::invalid_argument for an unknown mix or variant.
void stream_cpu(const Streams& streams, int variant);

}  // namespace tigon::harness
