// Times the implementations of one pass against each other.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/clock.h"
#include "harness/measure/pass.h"
#include "harness/stats/bootstrap.h"
#include "harness/stats/quantile.h"

namespace tigon::harness {

struct TimingLimits {
  // A time is settled when half the 95 % interval of its median is below this share of it. The
  // interval is taken over medians of rounds: neighbouring samples are not independent.
  double noise_limit = 0.005;
  int min_rounds = 10;  // with fewer it is noisy, however narrow
  // Past it no more rounds are begun; at least four are made.
  int max_rounds = 400;
  double min_seconds = 0.2;
  // For all implementations together; past it whatever is not settled is noisy.
  double max_seconds = 5.0;
  // Samples in a round: as many as fill this time, up to the limit.
  double round_ms = 5.0;
  int max_samples_per_round = 20;
  WarmUpOptions warm_up;

  // CUDA: the above. CPU: a fixed number of rounds, for no interval gets that narrow beside other
  // processes; a median is noisy there from 5 % on, and the paired ratio is the figure to read.
  static TimingLimits for_device(c10::Device device);
};

struct ImplementationTime {
  std::string name;
  std::string benchmark;  // <case id>/<implementation>/<pass>
  Summary us;             // of all samples, microseconds
  double noise = 0;       // half the interval of the median, relative
  bool noisy = false;
  // Time of the baseline over this one's, from rounds paired in time; 1 for the baseline itself.
  // Above 1 is faster than the baseline.
  Interval speedup{1, 1, 1};
  std::vector<double> samples_us;
  std::vector<double> rounds_us;  // the median of each round
  bool queue_full = true;         // as Subject's
  int64_t dropped = 0;
};

struct Comparison {
  std::vector<ImplementationTime> implementations;  // in the order given
  double overhead_us = 0;                           // of an empty sample; not subtracted
  double seconds = 0;                               // spent

  // Throws std::out_of_range for an unknown name.
  const ImplementationTime& operator[](std::string_view name) const;
};

// Runs each implementation as a Google Benchmark of its own, with manual time and a fixed number of
// iterations, in rounds that alternate their order (ABBA). Prints nothing. Benchmarks registered
// before are dropped from Google Benchmark's list.
// Rethrows what an implementation throws. Throws std::invalid_argument for no implementations,
// names that repeat, or a baseline that is not among them; an empty baseline asks for no ratios.
Comparison time_implementations(Clock& clock, std::string_view case_id, Pass pass,
                                std::vector<Timed> implementations, std::string_view baseline,
                                const TimingLimits& limits);

}  // namespace tigon::harness
