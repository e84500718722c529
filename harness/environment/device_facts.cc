#include "harness/environment/device_facts.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <string>

#include "harness/process/memory.h"

namespace tigon::harness {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

nlohmann::json cpu_facts() {
  nlohmann::json facts = {{"device", "cpu"},
                          {"name", cpu_name()},
                          {"threads", at::get_num_threads()},
                          {"libtorch_capability", at::get_cpu_capability()}};
  if (const auto bytes = available_memory_bytes()) facts["available_memory_bytes"] = *bytes;
  return facts;
}

nlohmann::json cuda_facts(c10::DeviceIndex index) {
  const cudaDeviceProp* properties = at::cuda::getDeviceProperties(index);
  int driver = 0;
  C10_CUDA_CHECK(cudaDriverGetVersion(&driver));
  return {{"device", fmt::format("cuda:{}", static_cast<int>(index))},
          {"name", properties->name},
          {"capability", fmt::format("{}.{}", properties->major, properties->minor)},
          {"multiprocessors", properties->multiProcessorCount},
          {"memory_bytes", properties->totalGlobalMem},
          {"l2_bytes", properties->l2CacheSize},
          {"cuda_driver", fmt::format("{}.{}", driver / 1000, driver % 1000 / 10)}};
}

}  // namespace

nlohmann::json device_facts(c10::Device device) {
  if (device.is_cpu()) return cpu_facts();
  nlohmann::json facts = cuda_facts(device.index());
  facts["threads"] = at::get_num_threads();
  return facts;
}

nlohmann::json all_device_facts() {
  nlohmann::json facts = {{"cpu", cpu_facts()}, {"cuda", nlohmann::json::array()}};
  try {
    const int count = c10::cuda::device_count_ensure_non_zero();
    for (int i = 0; i < count; ++i)
      facts["cuda"].push_back(cuda_facts(static_cast<c10::DeviceIndex>(i)));
  } catch (const std::exception& error) {
    const std::string text = error.what();
    facts["cuda_error"] = text.substr(0, text.find('\n'));
  }
  return facts;
}

}  // namespace tigon::harness
