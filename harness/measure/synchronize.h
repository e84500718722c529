// Waits until the device has finished what was asked of it.
#pragma once

#include <c10/core/Device.h>

namespace tigon::harness {

// All streams of a CUDA device; nothing to do for a CPU. Throws c10::Error on a CUDA error, be it
// of an earlier launch.
void synchronize(c10::Device device);

}  // namespace tigon::harness
