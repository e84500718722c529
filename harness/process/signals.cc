#include "harness/process/signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace tigon::harness {
namespace {

std::atomic<StopFlag*> g_flag{nullptr};
std::atomic<int> g_received{0};
static_assert(std::atomic<StopFlag*>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "used in a signal handler");

void raise_flag(int signal) {
  g_received.store(signal);
  if (StopFlag* flag = g_flag.load()) flag->request();
}

}  // namespace

StopFlag::StopFlag() : event_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

StopFlag::~StopFlag() { ::close(event_fd_); }

void StopFlag::request() noexcept {
  const int saved_errno = errno;
  requested_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  // Can only fail when the counter is full, and then the descriptor is readable already.
  [[maybe_unused]] const ssize_t written = ::write(event_fd_, &one, sizeof(one));
  errno = saved_errno;
}

StopOnSignals::StopOnSignals(StopFlag& flag, std::initializer_list<int> signals) {
  g_received.store(0);
  g_flag.store(&flag);
  for (const int signal : signals) {
    Saved saved{signal, {}};
    if (::sigaction(signal, nullptr, &saved.action) != 0) continue;
    // Ignored from outside (nohup, a shell's background job): not ours to change.
    if (saved.action.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = raise_flag;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    if (::sigaction(signal, &action, nullptr) == 0) saved_.push_back(saved);
  }
}

StopOnSignals::~StopOnSignals() {
  for (const Saved& saved : saved_) ::sigaction(saved.signal, &saved.action, nullptr);
  g_flag.store(nullptr);
}

int StopOnSignals::received() const noexcept { return g_received.load(); }

}  // namespace tigon::harness
