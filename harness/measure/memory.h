// How much memory an operation takes: exact, in bytes as they were requested, so that it can be
// gated without statistics.
//
// Seen is what LibTorch's allocator for the device hands out: outputs, gradients, saved tensors and
// workspaces of kernels that ask it. Memory that a kernel takes elsewhere (malloc, cudaMalloc) is
// not.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace tigon::harness {

struct MemoryUse {
  // The most bytes alive at once over forward and backward, outputs held, above what was resident
  // before: inputs and upstream gradients do not count, outputs and gradients do.
  int64_t peak_bytes = 0;
  // Bytes that live on in the outputs' grad_fn alone, the outputs dropped: saved for the backward,
  // beyond the inputs. An output that is itself saved counts.
  int64_t saved_bytes = 0;
  // The most bytes at once in blocks that one pass both allocated and released; the larger of the
  // two passes. What the forward saves is not workspace, nor is it when the backward releases it.
  int64_t workspace_bytes = 0;
};

using ForwardFn = std::function<std::vector<at::Tensor>()>;
using BackwardFn = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& outputs)>;

// Calls `forward` and `backward` once to warm up (cuBLAS workspaces and other things allocated once
// for all calls do not count), then measures a forward whose outputs are dropped and a forward with
// its backward. `backward` may be empty. Both are called under the caller's grad mode; the upstream
// gradients must exist already. On CUDA the current stream is drained before and after.
// Not for use while another thread allocates, nor within itself.
MemoryUse measure_memory(c10::Device device, const ForwardFn& forward, const BackwardFn& backward);

}  // namespace tigon::harness
