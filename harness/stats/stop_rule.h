// When to stop taking samples of a time.
#pragma once

#include <cstdint>
#include <span>

#include "harness/stats/bootstrap.h"

namespace tigon::harness {

enum class StopDecision {
  kContinue,
  kSettled,  // the median is known well enough
  kNoisy,    // out of time before it was: the row says so
};

struct StopRule {
  // Settled when half the interval of the median is below this share of it,
  double noise_limit = 0.005;
  // yet not before so many samples and so much time (a quiet start says nothing of the clock that
  // is about to drop).
  int64_t min_samples = 20;
  double min_seconds = 0.0;
  // From here on there is no more waiting.
  double max_seconds = 5.0;
  BootstrapOptions bootstrap = {};

  // `elapsed_seconds` since sampling began. Fewer than two samples have no interval: they never
  // settle. Throws std::invalid_argument for a NaN among the samples.
  StopDecision decide(std::span<const double> samples, double elapsed_seconds) const;
};

}  // namespace tigon::harness
