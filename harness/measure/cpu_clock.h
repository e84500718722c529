#pragma once

#include <cstdint>
#include <memory>

#include "harness/measure/clock.h"

namespace tigon::harness {

// `flush_bytes` as in ClockOptions.
std::unique_ptr<Clock> make_cpu_clock(int64_t flush_bytes);

// Bytes of the last-level cache by sysconf; 32 MiB where the machine does not tell.
int64_t last_level_cache_bytes();

}  // namespace tigon::harness
