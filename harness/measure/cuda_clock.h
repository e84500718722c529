#pragma once

#include <cstdint>
#include <memory>

#include "harness/measure/clock.h"

namespace tigon::harness {

// `flush_bytes` as in ClockOptions. Throws c10::Error when there is no such device.
std::unique_ptr<Clock> make_cuda_clock(c10::Device device, int64_t flush_bytes);

}  // namespace tigon::harness
