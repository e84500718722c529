// What an operation costs the host: the time to enqueue it, when nothing holds the host up.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <vector>

#include "harness/measure/clock.h"

namespace tigon::harness {

struct HostTime {
  double step_us = 0;      // of the given forward and backward
  double multiply_us = 0;  // of LibTorch's x * w, forward and backward, measured the same way
};

struct HostTimeOptions {
  int bursts = 30;
  // Calls between two drains of the device: few, so that the queue is never near full.
  int calls = 5;
};

// Host time of one call of `step`, which runs a forward and its backward: the device is drained,
// then a few calls are timed; the median over such bursts, in microseconds. On a CPU there is no
// queue, so the work itself is in the time: give it small tensors. x and w give the product's
// shapes, dtypes and device (neither is changed); x * w must be defined. Bursts of the two take
// turns.
HostTime measure_host_time(const Closure& step, const at::Tensor& x, const at::Tensor& w,
                           const HostTimeOptions& options = {});

}  // namespace tigon::harness
