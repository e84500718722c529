#include "harness/stats/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "harness/stats/quantile.h"

namespace tigon::harness {
namespace {

void check(const BootstrapOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw std::invalid_argument(
        fmt::format("confidence: got {}, want a value between 0 and 1", options.confidence));
  }
  if (options.resamples < 1) {
    throw std::invalid_argument(
        fmt::format("resamples: got {}, want at least 1", options.resamples));
  }
}

// Draws the median of a resample without drawing the resample. A resample of n takes sample
// floor(n U) for n independent uniform U, and sorting commutes with that: its k-th smallest is
// sample floor(n U_(k)) of the sorted samples, where the k-th smallest of n uniforms, U_(k), has
// the distribution Beta(k, n - k + 1). So a resample costs a few random numbers however many
// samples there are, which is what lets the stop rule ask again after every round.
class ResampledMedian {
 public:
  explicit ResampledMedian(const std::vector<double>& ordered)
      : ordered_(ordered),
        n_(static_cast<double>(ordered.size())),
        lower_((ordered.size() + 1) / 2),
        low_gamma_(static_cast<double>(lower_)),
        high_gamma_(n_ - static_cast<double>(lower_) + 1) {}

  template <typename Engine>
  double operator()(Engine& engine) {
    const double a = low_gamma_(engine);
    const double uniform = a / (a + high_gamma_(engine));
    const double low = at(uniform);
    if (ordered_.size() % 2 == 1) return low;
    // The next order statistic: the least of the n - k uniforms that lie above this one.
    const double above = n_ - static_cast<double>(lower_);
    const double gap = -std::expm1(std::log1p(-unit_(engine)) / above);
    return (low + at(uniform + (1 - uniform) * gap)) / 2;
  }

 private:
  double at(double uniform) const {
    return ordered_[std::min(static_cast<std::size_t>(uniform * n_), ordered_.size() - 1)];
  }

  const std::vector<double>& ordered_;
  double n_;
  std::size_t lower_;  // k of the lower (or only) middle order statistic, from 1
  std::gamma_distribution<double> low_gamma_;
  std::gamma_distribution<double> high_gamma_;
  std::uniform_real_distribution<double> unit_;
};

}  // namespace

double Interval::relative_half_width() const { return (high - low) / 2 / std::abs(estimate); }

Interval median_interval(std::span<const double> samples, const BootstrapOptions& options) {
  check(options);
  const double estimate = median(samples);
  std::vector<double> ordered(samples.begin(), samples.end());
  std::sort(ordered.begin(), ordered.end());

  std::mt19937_64 engine(options.seed);
  ResampledMedian resampled_median(ordered);
  std::vector<double> medians(static_cast<std::size_t>(options.resamples));
  for (double& value : medians) value = resampled_median(engine);
  const double tail = (1 - options.confidence) / 2;
  return {estimate, quantile(medians, tail), quantile(medians, 1 - tail)};
}

Interval median_paired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             const BootstrapOptions& options) {
  if (numerator.size() != denominator.size()) {
    throw std::invalid_argument(
        fmt::format("denominator: got {} values, want {}, one for each "
                    "numerator",
                    denominator.size(), numerator.size()));
  }
  std::vector<double> logs;
  for (std::size_t i = 0; i < numerator.size(); ++i) {
    for (double value : {numerator[i], denominator[i]}) {
      if (!(value > 0 && std::isfinite(value))) {
        throw std::invalid_argument(
            fmt::format("pair {}: got {}, want a finite value above 0", i, value));
      }
    }
    logs.push_back(std::log(numerator[i] / denominator[i]));
  }
  const Interval log_ratio = median_interval(logs, options);
  return {std::exp(log_ratio.estimate), std::exp(log_ratio.low), std::exp(log_ratio.high)};
}

}  // namespace tigon::harness
