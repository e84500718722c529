// Which of the builds of a CPU kernel runs on this machine.
//
// An implementation file (`*_impl.cc`) is compiled once for each capability, with
// -DTIGON_CPU_CAPABILITY=default|avx2|avx512 and that capability's compiler flags; what it defines
// lies in the namespace tigon::cpu_default, tigon::cpu_avx2 or tigon::cpu_avx512. It must not
// include a header whose inline functions baseline code uses too (std:: containers, LibTorch): the
// linker keeps one copy of those, and it could be the one that an older processor cannot run.
#pragma once

namespace tigon {

enum class CpuCapability { kDefault, kAvx2, kAvx512 };

const char* cpu_capability_name(CpuCapability capability);

// Can this processor run the kernels of this capability, and were they built?
bool cpu_supports(CpuCapability capability);

// The best supported capability, or what the environment variable TIGON_CPU_CAPABILITY asks for
// (default, avx2 or avx512). Read once. Throws std::runtime_error when the variable is none of
// these or names one that this processor lacks.
CpuCapability cpu_capability();

// Picks from three tables of functions, one per capability.
template <typename Table>
const Table& select_by_cpu_capability(const Table& fallback, const Table& avx2,
                                      const Table& avx512) {
  switch (cpu_capability()) {
    case CpuCapability::kAvx512:
      return avx512;
    case CpuCapability::kAvx2:
      return avx2;
    default:
      return fallback;
  }
}

}  // namespace tigon
