#include "harness/process/signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace tigon::harness {
namespace {

bool wakes(const StopFlag& flag, int timeout_ms) {
  pollfd fd = {flag.fd(), POLLIN, 0};
  int ready;
  // A signal ends the first poll; the flag's descriptor must end the next.
  while ((ready = ::poll(&fd, 1, timeout_ms)) < 0) {
  }
  return ready == 1;
}

TEST(StopFlag, WakesEveryPollerAndStaysUp) {
  StopFlag flag;
  EXPECT_FALSE(flag.requested());
  EXPECT_FALSE(wakes(flag, 0));
  std::thread requester([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flag.request();
  });
  EXPECT_TRUE(wakes(flag, 10000));
  EXPECT_TRUE(wakes(flag, 10000));
  EXPECT_TRUE(flag.requested());
  requester.join();
}

TEST(StopOnSignals, RaisesTheFlagAndPutsHandlersBack) {
  struct sigaction before = {}, after = {};
  ::sigaction(SIGTERM, nullptr, &before);
  StopFlag flag;
  {
    StopOnSignals guard(flag);
    EXPECT_EQ(guard.received(), 0);
    ::raise(SIGTERM);
    EXPECT_TRUE(flag.requested());
    EXPECT_TRUE(wakes(flag, 0));
    EXPECT_EQ(guard.received(), SIGTERM);
  }
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(StopOnSignals, TheSecondSignalEndsTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    StopFlag flag;
    StopOnSignals guard(flag);
    ::raise(SIGINT);
    if (!flag.requested()) ::_exit(1);
    ::raise(SIGINT);
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(StopOnSignals, LeavesIgnoredSignalsIgnored) {
  ::signal(SIGHUP, SIG_IGN);
  StopFlag flag;
  {
    StopOnSignals guard(flag);
    ::raise(SIGHUP);
    EXPECT_FALSE(flag.requested());
  }
  EXPECT_EQ(::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace tigon::harness
