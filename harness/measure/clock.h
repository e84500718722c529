// One sample: how long a device works on a closure, from a cold cache.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace tigon::harness {

using Closure = std::function<void()>;

// What is to be timed, with what is known of it from earlier samples.
struct Subject {
  Closure prepare;  // before each sample, untimed; may be empty
  Closure run;

  // CUDA: whether the closure was wholly enqueued before the device began it. A closure that waits
  // for the device itself cannot be; its time then includes the host's.
  bool queue_full = true;
  int64_t dropped = 0;  // samples thrown away because the device was let go too early
  double hold_ms = 20;  // how long at most the device is held back for the next sample
};

struct ClockOptions {
  // Bytes written between samples to turn the caches over; 0 leaves them warm, -1 takes twice the
  // L2 of a CUDA device (its attribute) or 1.25 times the last-level cache of a CPU (sysconf).
  int64_t flush_bytes = -1;
};

class Clock {
 public:
  virtual ~Clock() = default;

  // Prepares, turns the caches over, and runs once. Microseconds.
  // CUDA: between two events on the current stream. A kernel holds the stream back until the host
  // has enqueued all of `run`; where the host took too long the sample is dropped, another is taken
  // and the device is held longer the next time. CPU: steady_clock around the closure.
  virtual double sample_us(Subject& subject) = 0;
  // What an empty closure measures: the median of 100. Recorded, not subtracted.
  virtual double overhead_us() = 0;
  virtual c10::Device device() const = 0;
  virtual int64_t flush_bytes() const = 0;
};

// Throws c10::Error for a device that is neither CPU nor CUDA, or a CUDA device that is not there.
std::unique_ptr<Clock> make_clock(c10::Device device, const ClockOptions& options = {});

struct WarmUpOptions {
  int min_calls = 3;
  // Settled when the median of a block of samples is within this share of the block's before.
  double settled = 0.01;
  int block = 5;
  double max_seconds = 0.5;
};

// Calls the subject until its time has settled. Returns the last median in microseconds.
double warm_up(Clock& clock, Subject& subject, const WarmUpOptions& options = {});

}  // namespace tigon::harness
