// Confidence intervals that assume nothing of the distribution: percentile bootstrap of the median.
// The same samples, options and seed give the same interval.
#pragma once

#include <cstdint>
#include <span>

namespace tigon::harness {

struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;

  // Half the width of the interval, relative to the estimate.
  double relative_half_width() const;
};

struct BootstrapOptions {
  double confidence = 0.95;
  int resamples = 1000;
  uint64_t seed = 0x7469676f6e;
};

// The median of the samples with its interval. Throws std::invalid_argument for no samples, a NaN,
// a confidence outside (0, 1), or fewer than 1 resample.
Interval median_interval(std::span<const double> samples, const BootstrapOptions& options = {});

// The median over pairs of numerator[i] / denominator[i], of two things measured in turn: what
// disturbs both of a pair cancels. The interval is taken over pairs and on logarithms, so that
// swapping the two gives the reciprocal. Throws std::invalid_argument for no pairs, lengths that
// differ, or a value that is not above 0 and finite.
Interval median_paired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             const BootstrapOptions& options = {});

}  // namespace tigon::harness
