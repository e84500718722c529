// The stream and device that a launcher runs on: the tensors' own device, its current stream.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace tigon {

// Runs `cpu(args)` or `cuda(args, stream)` by where `tensor` is.
template <typename Args>
void launch(const at::Tensor& tensor, void (*cpu)(const Args&),
            void (*cuda)(const Args&, cudaStream_t), const Args& args) {
  if (tensor.is_cpu()) {
    cpu(args);
    return;
  }
  const c10::cuda::CUDAGuard guard(tensor.device());
  cuda(args, c10::cuda::getCurrentCUDAStream(tensor.device().index()));
}

}  // namespace tigon
