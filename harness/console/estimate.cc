#include "harness/console/estimate.h"

#include <algorithm>

namespace tigon::harness {
namespace {

// The weights count as much as what is measured until this share of the sweep is done: the first
// cases pay for start-up and warm-up and would set the whole estimate.
constexpr double kTrustInWeights = 0.05;

}  // namespace

TimeEstimate::TimeEstimate(double total_weight) : total_(std::max(0.0, total_weight)) {}

void TimeEstimate::finish(double weight, double elapsed_seconds) {
  done_ = std::min(total_, done_ + std::max(0.0, weight));
  last_finish_ = elapsed_seconds;
}

double TimeEstimate::seconds_per_weight() const {
  const double trust = kTrustInWeights * total_;
  return (last_finish_ + trust) / (done_ + trust);
}

double TimeEstimate::remaining(double elapsed_seconds) const {
  if (done_ >= total_) return 0;
  const double at_last_finish = seconds_per_weight() * (total_ - done_);
  return std::max(0.0, at_last_finish - (elapsed_seconds - last_finish_));
}

}  // namespace tigon::harness
