#include "kernels/core/cpu/capability.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tigon {
namespace {

constexpr CpuCapability kBestFirst[] = {CpuCapability::kAvx512, CpuCapability::kAvx2,
                                        CpuCapability::kDefault};

CpuCapability choose() {
  const char* wanted = std::getenv("TIGON_CPU_CAPABILITY");
  if (wanted == nullptr || *wanted == '\0') {
    for (CpuCapability capability : kBestFirst) {
      if (cpu_supports(capability)) return capability;
    }
  }
  for (CpuCapability capability : kBestFirst) {
    if (std::string(cpu_capability_name(capability)) != wanted) continue;
    if (cpu_supports(capability)) return capability;
    throw std::runtime_error(std::string("TIGON_CPU_CAPABILITY is ") + wanted +
                             ", which this processor does not support");
  }
  throw std::runtime_error(std::string("TIGON_CPU_CAPABILITY is \"") + wanted +
                           "\"; want default, avx2 or avx512");
}

}  // namespace

const char* cpu_capability_name(CpuCapability capability) {
  switch (capability) {
    case CpuCapability::kAvx512:
      return "avx512";
    case CpuCapability::kAvx2:
      return "avx2";
    default:
      return "default";
  }
}

bool cpu_supports(CpuCapability capability) {
  if (capability == CpuCapability::kDefault) return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  if (capability == CpuCapability::kAvx2) return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

CpuCapability cpu_capability() {
  static const CpuCapability capability = choose();
  return capability;
}

}  // namespace tigon
