// Order statistics of a sample.
#pragma once

#include <cstdint>
#include <span>

namespace tigon::harness {

// The q-quantile, 0 <= q <= 1, linear between the order statistics (Hyndman and Fan's type 7, the
// default of R and NumPy). Throws std::invalid_argument for no values, a NaN, or q outside [0, 1].
double quantile(std::span<const double> values, double q);
double median(std::span<const double> values);

struct Summary {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
  double min = 0;
  int64_t count = 0;
};

// All of them with one sort. Throws as quantile().
Summary summarize(std::span<const double> values);

// exp(mean(log v)). Throws std::invalid_argument for no values, or one that is not above 0.
double geometric_mean(std::span<const double> values);

}  // namespace tigon::harness
