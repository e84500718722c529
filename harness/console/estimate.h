// How long the rest of a sweep will take.
#pragma once

namespace tigon::harness {

// Cases carry a weight: what they are thought to cost, in seconds. The estimate learns how far that
// is off as cases finish; until enough have, it leans on the weights as they are.
class TimeEstimate {
 public:
  explicit TimeEstimate(double total_weight);

  // A case of this weight is done, `elapsed_seconds` after the sweep began.
  void finish(double weight, double elapsed_seconds);

  // Seconds still to go, `elapsed_seconds` after the sweep began. Never below 0.
  double remaining(double elapsed_seconds) const;

 private:
  double seconds_per_weight() const;

  double total_;
  double done_ = 0;
  double last_finish_ = 0;
};

}  // namespace tigon::harness
