#include "harness/process/pipe_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <string>
#include <thread>

namespace tigon::harness {
namespace {

TEST(Pipe, EndsAreCloseOnExecAndAboveTheStandardStreams) {
  const Pipe pipe = make_pipe();
  for (const int fd : {pipe.read_end.get(), pipe.write_end.get()}) {
    EXPECT_GT(fd, STDERR_FILENO);
    EXPECT_EQ(::fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
}

TEST(Pipe, LeavesFreeStandardStreamsFree) {
  const UniqueFd saved(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10));
  ::close(STDIN_FILENO);
  const Pipe pipe = make_pipe();
  EXPECT_GT(pipe.read_end.get(), STDERR_FILENO);
  EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1);
  if (saved) ::dup2(saved.get(), STDIN_FILENO);
}

TEST(Write, AClosedReaderIsAnErrorAndNoSignal) {
  ASSERT_EQ(::signal(SIGPIPE, SIG_DFL), SIG_DFL);  // the signal would end this test
  Pipe pipe = make_pipe();
  pipe.read_end.reset();
  EXPECT_FALSE(write_all(pipe.write_end.get(), "text"));
  EXPECT_EQ(errno, EPIPE);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(Write, KeepsASignalThatWasPendingBefore) {
  sigset_t pipe_only, before, pending;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
  ::raise(SIGPIPE);
  Pipe pipe = make_pipe();
  pipe.read_end.reset();
  EXPECT_FALSE(write_all(pipe.write_end.get(), "text"));
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 1);
  int taken = 0;
  sigwait(&pipe_only, &taken);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Write, WritesMoreThanAPipeHolds) {
  Pipe pipe = make_pipe();
  const std::string sent(1 << 20, 'x');
  std::size_t received = 0;
  std::thread reader([&] {
    char buffer[4096];
    for (ssize_t got; (got = ::read(pipe.read_end.get(), buffer, sizeof(buffer))) > 0;) {
      received += static_cast<std::size_t>(got);
    }
  });
  EXPECT_TRUE(write_all(pipe.write_end.get(), sent));
  pipe.write_end.reset();
  reader.join();
  EXPECT_EQ(received, sent.size());
}

}  // namespace
}  // namespace tigon::harness
