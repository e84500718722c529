#include "harness/process/pipe_io.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <ctime>
#include <system_error>

namespace tigon::harness {
namespace {

void move_above_standard_streams(UniqueFd* fd) {
  if (fd->get() > STDERR_FILENO) return;
  const int moved = ::fcntl(fd->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) throw std::system_error(errno, std::generic_category(), "fcntl(F_DUPFD)");
  fd->reset(moved);
}

}  // namespace

Pipe make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  Pipe pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
  move_above_standard_streams(&pipe.read_end);
  move_above_standard_streams(&pipe.write_end);
  return pipe;
}

ssize_t write_without_sigpipe(int fd, std::string_view bytes) {
  // The signal goes to the writing thread: block it, write, and take it back if it came. One that
  // was pending before stays pending.
  sigset_t pipe_only, before, pending;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
  const ssize_t written = ::write(fd, bytes.data(), bytes.size());
  const int error = errno;
  if (written < 0 && error == EPIPE && !was_pending) {
    const timespec no_wait = {0, 0};
    while (sigtimedwait(&pipe_only, nullptr, &no_wait) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write_without_sigpipe(fd, bytes);
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace tigon::harness
