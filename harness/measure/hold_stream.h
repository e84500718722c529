// Holds a CUDA stream back until the host says go. No torch header.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tigon::harness {

// Two words in page-locked host memory that the device sees.
struct HoldFlags {
  uint32_t released = 0;   // the host: go, up to this hold
  uint32_t timed_out = 0;  // the device: this hold ended by its deadline
};

// Enqueues a kernel of one thread that ends when flags->released == hold, or after `deadline_ns`: a
// host that waits for the device meanwhile is not hung, only late.
cudaError_t launch_hold(volatile HoldFlags* flags, uint32_t hold, uint64_t deadline_ns,
                        cudaStream_t stream);

}  // namespace tigon::harness
