// Where a sweep stands. On a terminal one line, rewritten in place; in a log one line a finished
// case.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "harness/console/estimate.h"

namespace tigon::harness {

struct ProgressOptions {
  bool terminal = false;  // rewrite one line in place
  bool colour = false;
  int width = 100;  // columns of the terminal
  // Seconds on a clock that only moves forward; empty: std::chrono::steady_clock.
  std::function<double()> now = {};
};

class Progress {
 public:
  // `total_weight`: the sum of the weights (expected seconds) of all cases; see TimeEstimate.
  Progress(std::ostream& out, int64_t total_cases, double total_weight, ProgressOptions options);
  // Leaves the terminal's line empty.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A case begins, or reaches a stage ("reference", "verify", "time"). A log does not show it. With
  // several workers the line shows whichever spoke last.
  void stage(std::string_view case_id, std::string_view stage);

  // Redraws the line: the time goes on though no stage changes. Nothing in a log.
  void tick();

  // A case is done. `outcome` is what a log says of it: "right 41%  31.2 us  5.2x".
  void finish(std::string_view case_id, double weight, std::string_view outcome);

  // A line that stays: a warning, a failed case. Ends up above the terminal's line.
  void note(std::string_view text);

  // Clears the terminal's line; the sweep is over.
  void close();

 private:
  double elapsed() const;
  void draw();
  void clear();

  std::ostream& out_;
  int64_t total_;
  int64_t done_ = 0;
  TimeEstimate estimate_;
  ProgressOptions options_;
  double start_;
  std::string case_id_;
  std::string stage_;
  bool drawn_ = false;
};

}  // namespace tigon::harness
