#include "harness/stats/stop_rule.h"

namespace tigon::harness {

StopDecision StopRule::decide(std::span<const double> samples, double elapsed_seconds) const {
  const auto count = static_cast<int64_t>(samples.size());
  const bool out_of_time = elapsed_seconds >= max_seconds;
  const bool enough = count >= 2 && count >= min_samples && elapsed_seconds >= min_seconds;
  if (!enough && !out_of_time) return StopDecision::kContinue;
  // One sample resamples to itself alone, a width of 0 that says nothing.
  if (enough && median_interval(samples, bootstrap).relative_half_width() < noise_limit) {
    return StopDecision::kSettled;
  }
  return out_of_time ? StopDecision::kNoisy : StopDecision::kContinue;
}

}  // namespace tigon::harness
