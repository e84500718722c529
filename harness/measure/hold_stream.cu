#include "harness/measure/hold_stream.h"

namespace tigon::harness {
namespace {

__device__ uint64_t nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void hold_kernel(volatile HoldFlags* flags, uint32_t hold, uint64_t deadline_ns) {
  const uint64_t start = nanoseconds();
  while (flags->released != hold) {
    if (nanoseconds() - start > deadline_ns) {
      flags->timed_out = hold;
      __threadfence_system();
      return;
    }
  }
}

}  // namespace

cudaError_t launch_hold(volatile HoldFlags* flags, uint32_t hold, uint64_t deadline_ns,
                        cudaStream_t stream) {
  hold_kernel<<<1, 1, 0, stream>>>(flags, hold, deadline_ns);
  return cudaGetLastError();
}

}  // namespace tigon::harness
