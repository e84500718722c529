#include "harness/console/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/console/format.h"
#include "harness/console/terminal.h"

namespace tigon::harness {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string counter(int64_t done, int64_t total) {
  const std::string all = std::to_string(total);
  return fmt::format("[{:>{}}/{}]", done, all.size(), all);
}

}  // namespace

Progress::Progress(std::ostream& out, int64_t total_cases, double total_weight,
                   ProgressOptions options)
    : out_(out), total_(total_cases), estimate_(total_weight), options_(std::move(options)) {
  if (!options_.now) options_.now = steady_seconds;
  start_ = options_.now();
}

Progress::~Progress() { close(); }

double Progress::elapsed() const { return options_.now() - start_; }

void Progress::stage(std::string_view case_id, std::string_view stage) {
  case_id_ = case_id;
  stage_ = stage;
  draw();
}

void Progress::tick() { draw(); }

void Progress::finish(std::string_view case_id, double weight, std::string_view outcome) {
  ++done_;
  estimate_.finish(weight, elapsed());
  if (options_.terminal) {
    draw();
  } else {
    out_ << fmt::format("{} {} left  {}  {}\n", counter(done_, total_),
                        format_duration(estimate_.remaining(elapsed())), case_id, outcome)
         << std::flush;
  }
}

void Progress::note(std::string_view text) {
  const bool was_drawn = drawn_;
  clear();
  out_ << text << '\n' << std::flush;
  if (was_drawn) draw();
}

void Progress::close() { clear(); }

void Progress::draw() {
  if (!options_.terminal) return;
  const double now = elapsed();
  const std::string head =
      fmt::format("{} {}, about {} left", counter(done_, total_), format_duration(now),
                  format_duration(estimate_.remaining(now)));
  // One column stays free: a cursor beyond the last one would wrap on some terminals.
  const auto width = static_cast<std::size_t>(std::max(1, options_.width - 1));
  const std::string stage = stage_.empty() ? "" : "  " + stage_;
  const std::size_t taken = display_width(head) + display_width(stage) + 2;
  std::string tail;
  if (!case_id_.empty() && taken < width) {
    // Cut in front: neighbours share their operator and first sizes, what tells them apart is last.
    tail = "  " + shorten_front(case_id_, width - taken) + stage;
  }
  out_ << "\r\x1b[K" << paint(shorten(head, width), Colour::kBold, options_.colour) << tail
       << std::flush;
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  out_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace tigon::harness
