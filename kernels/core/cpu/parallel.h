// The kernels' one door to LibTorch's thread pool, so that their files need none of its headers.
#pragma once

#include <cstdint>

namespace tigon {

namespace internal {
void parallel_for(int64_t count, int64_t grain, void (*body)(const void*, int64_t, int64_t),
                  const void* context);
}  // namespace internal

// Calls body(begin, end) for consecutive pieces of [0, count), each but the last at least `grain`
// long, on at most at::get_num_threads() threads; in the caller's thread when called from a
// parallel region. An exception in a body is rethrown here.
template <typename Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  internal::parallel_for(
      count, grain,
      [](const void* context, int64_t begin, int64_t end) {
        (*static_cast<const Body*>(context))(begin, end);
      },
      &body);
}

}  // namespace tigon
