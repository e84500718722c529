#include "harness/measure/allocation_log.h"

#include <algorithm>
#include <cstdlib>

namespace tigon::harness {

int64_t AllocationLog::add(int64_t nbytes) {
  const std::lock_guard lock(mutex_);
  const auto block = static_cast<int64_t>(blocks_.size());
  blocks_.push_back({nbytes, true});
  events_.push_back(block + 1);
  live_ += nbytes;
  peak_ = std::max(peak_, live_);
  return block;
}

void AllocationLog::remove(int64_t block) {
  const std::lock_guard lock(mutex_);
  Block& b = blocks_.at(static_cast<size_t>(block));
  b.alive = false;
  if (block >= first_of_pass_) events_.push_back(-(block + 1));
  live_ -= b.nbytes;
}

int64_t AllocationLog::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

int64_t AllocationLog::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void AllocationLog::begin_pass() {
  const std::lock_guard lock(mutex_);
  events_.clear();
  first_of_pass_ = static_cast<int64_t>(blocks_.size());
}

int64_t AllocationLog::pass_workspace_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t now = 0;
  int64_t most = 0;
  for (const int64_t event : events_) {
    const Block& b = blocks_[static_cast<size_t>(std::abs(event) - 1)];
    if (b.alive) continue;  // a result, or saved for later
    now += event > 0 ? b.nbytes : -b.nbytes;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace tigon::harness
