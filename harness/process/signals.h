// A stop request that wakes a poll(), and the signal handlers that raise it.
#pragma once

#include <signal.h>

#include <atomic>
#include <initializer_list>
#include <vector>

namespace tigon::harness {

// Raised once, never lowered. request() may be called from a signal handler and from any thread.
class StopFlag {
 public:
  StopFlag();  // throws std::system_error when no descriptor is left
  ~StopFlag();
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  void request() noexcept;
  bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }

  // Readable from request() on, for every poller; nobody reads it.
  int fd() const noexcept { return event_fd_; }

 private:
  std::atomic<bool> requested_{false};
  int event_fd_ = -1;
};

// While it lives, the first of these signals raises the flag. The second of a kind has its default
// effect again, so that a user who presses Ctrl-C twice is obeyed at once (workers die with their
// parent). The destructor puts the former handlers back. One object at a time.
class StopOnSignals {
 public:
  explicit StopOnSignals(StopFlag& flag,
                         std::initializer_list<int> signals = {SIGINT, SIGTERM, SIGHUP});
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

  // The signal that came, or 0.
  int received() const noexcept;

 private:
  struct Saved {
    int signal;
    struct sigaction action;
  };
  std::vector<Saved> saved_;
};

}  // namespace tigon::harness
