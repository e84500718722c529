// The measured roof: the least time that this device, in this run, needs to move given bytes or do
// given arithmetic. A figure that beats it by much is no speed but a mistake.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/measure/clock.h"
#include "harness/operator.h"

namespace tigon::harness {

// One measured rate, for the run's environment record.
struct RoofMeasurement {
  int64_t bytes = 0;  // moved, reads and writes together; 0 for arithmetic
  int reads = 0;      // the mix
  int writes = 0;
  std::string dtype;      // of the arithmetic
  std::string way;        // what was fastest: "copy_", "stream 3", "matmul 8192"
  double per_second = 0;  // bytes or flops
};

class Roof {
 public:
  // The clock's device and its cold-cache protocol are the roof's: the same as the rows'. The clock
  // must outlive the roof.
  explicit Roof(Clock& clock);

  // Least time in microseconds to read and write so many bytes, from and to memory: the best of
  // LibTorch's copy and streaming kernels of our own, at this size and mix. 0 for no bytes.
  // Measured once for each size (to within 7 %) and mix; takes some milliseconds.
  double memory_us(int64_t bytes_read, int64_t bytes_written);
  // Flops a second of a large square matmul of LibTorch's in this dtype.
  double flops_per_second(at::ScalarType dtype);
  // The roofline bound of a pass, microseconds: the larger of the two.
  double time_us(const PassCost& cost, at::ScalarType dtype);

  // Forgets what time_us needs for this cost, so that it is measured again.
  void forget(const PassCost& cost, at::ScalarType dtype);

  // All that was measured and not forgotten.
  std::vector<RoofMeasurement> measurements() const;

 private:
  using MemoryKey = std::tuple<int64_t, int, int>;  // rounded bytes, reads, writes
  static MemoryKey memory_key(int64_t bytes_read, int64_t bytes_written);
  RoofMeasurement measure_memory_rate(const MemoryKey& key);
  RoofMeasurement measure_flops(at::ScalarType dtype);

  Clock& clock_;
  std::map<MemoryKey, RoofMeasurement> memory_;
  std::map<at::ScalarType, RoofMeasurement> flops_;
};

// Above 110 % of its roof a time cannot be true: the roof or the time was measured wrongly.
inline constexpr double kMostOfRoof = 1.10;
inline bool beats_roof(double time_us, double roof_us) { return time_us * kMostOfRoof < roof_us; }

}  // namespace tigon::harness
