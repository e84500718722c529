// Host side of a launch: device facts, error checks, dtype dispatch, alignment.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/core/scalar_type.h"

namespace tigon::cuda {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": CUDA error " + cudaGetErrorName(error) + ": " +
                           cudaGetErrorString(error));
}

inline constexpr int kMaxDevices = 64;

struct Device {
  int ordinal = 0;
  int multiprocessors = 0;
  int compute_major = 0;
  int shared_bytes_per_block = 0;  // with the opt-in
};

// Attribute queries cost microseconds: each device is asked once.
inline const Device& current_device() {
  static std::array<Device, kMaxDevices> devices;
  static std::array<std::once_flag, kMaxDevices> once;
  int ordinal = 0;
  check(cudaGetDevice(&ordinal), "cudaGetDevice");
  if (ordinal >= kMaxDevices)
    throw std::runtime_error("device ordinal " + std::to_string(ordinal) + ", at most " +
                             std::to_string(kMaxDevices - 1) + " is supported");
  std::call_once(once[ordinal], [ordinal] {
    const auto attribute = [ordinal](cudaDeviceAttr name) {
      int value = 0;
      check(cudaDeviceGetAttribute(&value, name, ordinal), "cudaDeviceGetAttribute");
      return value;
    };
    devices[ordinal] = {ordinal, attribute(cudaDevAttrMultiProcessorCount),
                        attribute(cudaDevAttrComputeCapabilityMajor),
                        attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
  });
  return devices[ordinal];
}

struct LaunchShape {
  dim3 grid, block;
  int shared_bytes = 0;
  int cluster = 1;
  // Set when the kernel starts with wait_for_previous_kernel(): its launch then overlaps the end of
  // the kernel before it. Ignored by devices that cannot.
  bool overlaps_previous = false;
};

// The static shared memory of any kernel here is below this.
inline constexpr int kStaticSharedBytes = 2048;
inline constexpr int kSharedBytesWithoutOptIn = 48 * 1024 - kStaticSharedBytes;

// A kernel must opt in to much shared memory, once per device.
template <auto kKernel>
void allow_shared_bytes(const char* name, int shared_bytes) {
  if (shared_bytes <= kSharedBytesWithoutOptIn) return;
  const Device& device = current_device();
  static std::atomic<uint64_t> prepared{0};
  const uint64_t bit = uint64_t{1} << device.ordinal;
  if (prepared.load(std::memory_order_acquire) & bit) return;
  check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             device.shared_bytes_per_block - kStaticSharedBytes),
        name);
  prepared.fetch_or(bit, std::memory_order_release);
}

template <auto kKernel, typename... Args>
void launch(const char* name, const LaunchShape& shape, cudaStream_t stream, const Args&... args) {
  const Device& device = current_device();
  allow_shared_bytes<kKernel>(name, shape.shared_bytes);
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attributes[2];
  config.attrs = attributes;
  if (shape.cluster > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(shape.cluster), 1, 1};
  }
  if (shape.overlaps_previous && device.compute_major >= 9) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  check(cudaLaunchKernelEx(&config, kKernel, args...), name);
}

template <typename T>
struct TypeTag {
  using type = T;
};

template <typename Function>
decltype(auto) dispatch_type(ScalarType type, Function&& function) {
  switch (type) {
    case ScalarType::kFloat32:
      return function(TypeTag<float>{});
    case ScalarType::kBFloat16:
      return function(TypeTag<__nv_bfloat16>{});
    case ScalarType::kFloat16:
      return function(TypeTag<__half>{});
  }
  throw std::runtime_error("unknown scalar type");
}

inline bool aligned_16(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % 16 == 0;  // null is aligned
}

inline constexpr int64_t kMaxGridX = 0x7fffffff;
inline constexpr int64_t kMaxGridY = 65535;

inline constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

inline int64_t next_power_of_two(int64_t value) {
  int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

}  // namespace tigon::cuda
