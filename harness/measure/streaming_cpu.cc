#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "harness/measure/streaming.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tigon::harness {
namespace {

// A vector type of the compiler's own: the loads and stores are wide on every machine.
using Vector = uint64_t __attribute__((vector_size(16)));

inline void store(Vector* p, Vector v, bool around_cache) {
#if defined(__SSE2__)
  if (around_cache) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(p), reinterpret_cast<__m128i>(v));
    return;
  }
#endif
  *p = v;
}

// What a mix that only reads leaves behind, so that its loads are not removed.
std::atomic<uint64_t> sink;

template <int kReads, int kWrites, bool kAroundCache>
void stream_range(const Vector* source, Vector* destination, int64_t vectors, int64_t begin,
                  int64_t end) {
  Vector sums[4] = {};
  for (int64_t i = begin; i < end; ++i) {
    Vector value = {1, 2};
    for (int r = 0; r < kReads; ++r) value ^= source[r * vectors + i];
    if constexpr (kWrites == 0) sums[i % 4] ^= value;
    for (int w = 0; w < kWrites; ++w) {
      store(destination + w * vectors + i, value, kAroundCache);
    }
  }
#if defined(__SSE2__)
  if constexpr (kAroundCache) _mm_sfence();
#endif
  if constexpr (kWrites == 0) {
    const Vector sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
    sink.fetch_xor(sum[0] ^ sum[1], std::memory_order_relaxed);
  }
}

template <int kReads, int kWrites>
void stream_mix(const Streams& s, bool around_cache) {
  constexpr int64_t kGrain = 4096;  // vectors: below 64 KiB a thread more costs more than it brings
  const auto* source = static_cast<const Vector*>(s.source);
  auto* destination = static_cast<Vector*>(s.destination);
  at::parallel_for(0, s.vectors, kGrain, [&](int64_t begin, int64_t end) {
    if (around_cache) {
      stream_range<kReads, kWrites, true>(source, destination, s.vectors, begin, end);
    } else {
      stream_range<kReads, kWrites, false>(source, destination, s.vectors, begin, end);
    }
  });
}

template <size_t kMix>
void dispatch(const Streams& s, bool around_cache) {
  constexpr StreamMix mix = kStreamMixes[kMix];
  if (s.mix.reads == mix.reads && s.mix.writes == mix.writes) {
    stream_mix<mix.reads, mix.writes>(s, around_cache);
  } else if constexpr (kMix + 1 < kStreamMixes.size()) {
    dispatch<kMix + 1>(s, around_cache);
  } else {
    throw std::invalid_argument(
        fmt::format("stream_cpu: mix is {} reads to {} writes, want one of "
                    "kStreamMixes",
                    s.mix.reads, s.mix.writes));
  }
}

}  // namespace

StreamMix nearest_mix(int64_t bytes_read, int64_t bytes_written) {
  const double share =
      static_cast<double>(bytes_read) / static_cast<double>(bytes_read + bytes_written);
  StreamMix best = kStreamMixes[0];
  double least = 2;
  for (const StreamMix& mix : kStreamMixes) {
    const double distance =
        std::abs(share - static_cast<double>(mix.reads) / (mix.reads + mix.writes));
    if (distance < least) {
      least = distance;
      best = mix;
    }
  }
  return best;
}

void stream_cpu(const Streams& streams, int variant) {
  if (variant < 0 || variant >= kCpuStreamVariants) {
    throw std::invalid_argument(
        fmt::format("stream_cpu: variant is {}, want 0 to {}", variant, kCpuStreamVariants - 1));
  }
  dispatch<0>(streams, variant == 1);
}

}  // namespace tigon::harness
