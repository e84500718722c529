#include "harness/process/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/process/pipe_io.h"

namespace tigon::harness {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A worker's death is noticed by its pipes; the slice is for those that left a child holding them.
constexpr milliseconds kPollSlice{250};
constexpr milliseconds kWaitSlice{5};
// The kernel tears down a killed process's memory and its device contexts within this time.
constexpr double kKilledWithin = 30;

[[noreturn]] void throw_errno(const std::string& what, int error) {
  throw std::system_error(error, std::generic_category(), what);
}

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> merged = additions;
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const bool replaced =
        std::any_of(additions.begin(), additions.end(),
                    [&](const std::string& added) { return name_of(added) == name_of(*entry); });
    if (!replaced) merged.emplace_back(*entry);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>* strings) {
  std::vector<char*> result;
  for (std::string& s : *strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

// All that the child needs between fork and exec: the parent may have other threads, so nothing
// there may allocate or take a lock.
struct ChildSetup {
  char* const* argv;
  char* const* envp;
  int request_fd;
  int message_fd;
  int output_fd;
  int null_fd;
  int error_fd;
  pid_t parent;
};

void keep_across_exec(int fd) { ::fcntl(fd, F_SETFD, 0); }

[[noreturn]] void become_worker(const ChildSetup& setup) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Another parent: it died before the line above. (0: it is outside this process's namespace.)
  const pid_t parent = ::getppid();
  if (parent != setup.parent && parent != 0) ::_exit(127);

  const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(score, "1000", 4);
    ::close(score);
  }
  ::dup2(setup.null_fd, STDIN_FILENO);
  ::dup2(setup.output_fd, STDOUT_FILENO);
  ::dup2(setup.output_fd, STDERR_FILENO);
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC; older kernels refuse it
  ::syscall(SYS_close_range, 3U, ~0U, kCloseOnExec);
#endif
  keep_across_exec(setup.request_fd);
  keep_across_exec(setup.message_fd);

  // Ignored and blocked signals would survive exec; the parent's choices are not the worker's.
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  ::execve(setup.argv[0], setup.argv, setup.envp);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(setup.error_fd, &error, sizeof(error));
  ::_exit(127);
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

int poll_timeout(SteadyTime deadline, milliseconds slice) {
  const SteadyTime now = steady_clock::now();
  if (deadline <= now) return 0;
  if (deadline - now >= slice) return static_cast<int>(slice.count());
  return static_cast<int>(std::chrono::duration_cast<milliseconds>(deadline - now).count()) + 1;
}

}  // namespace

SteadyTime deadline_after(double seconds) {
  constexpr double kNever = 1e9;  // 30 years
  if (!(seconds < kNever)) return SteadyTime::max();
  return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                   std::chrono::duration<double>(std::max(seconds, 0.0)));
}

std::string current_executable() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

std::string WorkerExit::describe() const {
  if (!known) return "could not be reaped";
  if (signal == 0) return fmt::format("exited with code {}", exit_code);
  const char* name = ::sigdescr_np(signal);
  return fmt::format("killed by signal {} ({})", signal, name == nullptr ? "unknown" : name);
}

WorkerProcess::WorkerProcess(const WorkerCommand& command) {
  if (command.argv.empty()) throw std::invalid_argument("worker command: argv is empty");
  Pipe requests = make_pipe();
  Pipe messages = make_pipe();
  Pipe output = make_pipe();
  Pipe exec_error = make_pipe();
  const UniqueFd null_device(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_device) throw_errno("/dev/null", errno);

  std::vector<std::string> arguments = command.argv;
  arguments.push_back(
      fmt::format("--worker-fds={},{}", requests.read_end.get(), messages.write_end.get()));
  std::vector<std::string> environment = merged_environment(command.environment);
  const std::vector<char*> argv = pointers(&arguments);
  const std::vector<char*> envp = pointers(&environment);
  const ChildSetup setup = {argv.data(),
                            envp.data(),
                            requests.read_end.get(),
                            messages.write_end.get(),
                            output.write_end.get(),
                            null_device.get(),
                            exec_error.write_end.get(),
                            ::getpid()};

  // The parent's handlers must not run in the child: they would write to the parent's descriptors.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = ::fork();
  const int fork_error = errno;
  if (pid_ == 0) become_worker(setup);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) throw_errno("cannot start a worker: fork", fork_error);

  exec_error.write_end.reset();
  int error = 0;
  ssize_t got;
  while ((got = ::read(exec_error.read_end.get(), &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  if (got == sizeof(error)) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    throw_errno(fmt::format("cannot start the worker {}", command.argv[0]), error);
  }
  request_fd_ = std::move(requests.write_end);
  message_fd_ = std::move(messages.read_end);
  output_fd_ = std::move(output.read_end);
  for (const UniqueFd* fd : {&request_fd_, &message_fd_, &output_fd_}) set_nonblocking(fd->get());
}

WorkerProcess::~WorkerProcess() {
  try_reap();
  if (exit_) return;
  ::kill(-pid_, SIGKILL);
  wait(deadline_after(kKilledWithin));
}

void WorkerProcess::try_reap() {
  if (exit_) return;
  siginfo_t info = {};
  // Look first, reap later: while the dead worker keeps its id, its group can be signalled safely.
  const int found = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (found != 0) {
    if (errno != EINTR) exit_ = WorkerExit{};  // reaped by someone else
    return;
  }
  if (info.si_pid != pid_) return;
  ::kill(-pid_, SIGKILL);  // what it may have started
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) return;
  WorkerExit ended;
  ended.known = true;
  if (WIFSIGNALED(status)) {
    ended.signal = WTERMSIG(status);
  } else {
    ended.exit_code = WEXITSTATUS(status);
  }
  exit_ = ended;
}

void WorkerProcess::poll_once(SteadyTime deadline, bool for_writing, const StopFlag* stop) {
  pollfd fds[4];
  nfds_t count = 0;
  if (!messages_ended_) fds[count++] = {message_fd_.get(), POLLIN, 0};
  if (output_fd_) fds[count++] = {output_fd_.get(), POLLIN, 0};
  if (stop != nullptr) fds[count++] = {stop->fd(), POLLIN, 0};
  if (for_writing && request_fd_) fds[count++] = {request_fd_.get(), POLLOUT, 0};
  const int ready = ::poll(fds, count, poll_timeout(deadline, kPollSlice));
  if (ready == 0) try_reap();
  drain_output();
}

void WorkerProcess::drain_output() {
  // Bounded, so that a worker that never stops printing can't keep the parent here.
  constexpr int kReads = 16;
  char buffer[16384];
  for (int i = 0; i < kReads && output_fd_; ++i) {
    const ssize_t got = ::read(output_fd_.get(), buffer, sizeof(buffer));
    if (got > 0) {
      tail_.append(std::string_view(buffer, static_cast<std::size_t>(got)));
    } else if (got == 0) {
      output_fd_.reset();
    } else if (errno != EINTR) {
      return;
    }
  }
}

bool WorkerProcess::drain_messages(bool keep) {
  if (messages_ended_) return false;
  char buffer[65536];
  const ssize_t got = ::read(message_fd_.get(), buffer, sizeof(buffer));
  if (got > 0) {
    if (keep) decoder_.feed(std::string_view(buffer, static_cast<std::size_t>(got)));
    return true;
  }
  // Once the worker is known to be dead, an empty pipe is the end, whoever else holds it open.
  if (got == 0 || (errno != EINTR && (errno != EAGAIN || exit_))) messages_ended_ = true;
  return false;
}

bool WorkerProcess::send(const nlohmann::json& message, SteadyTime deadline) {
  const std::string line = encode_message(message);
  std::string_view rest = line;
  while (!rest.empty()) {
    if (!request_fd_ || exit_) return false;
    const ssize_t written = write_without_sigpipe(request_fd_.get(), rest);
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      if (steady_clock::now() >= deadline) return false;
      poll_once(deadline, /*for_writing=*/true, nullptr);
      drain_messages(/*keep=*/true);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

ReadResult WorkerProcess::read_message(SteadyTime deadline, const StopFlag* stop) {
  using Kind = ReadResult::Kind;
  ReadResult result{Kind::kMessage, {}, {}};
  while (true) {
    switch (decoder_.next(&result.message, &result.text)) {
      case MessageDecoder::Result::kMessage:
        return result;
      case MessageDecoder::Result::kGarbage:
        result.kind = Kind::kGarbage;
        return result;
      case MessageDecoder::Result::kNone:
        break;
    }
    if (messages_ended_) {
      result.kind = Kind::kClosed;
      if (decoder_.has_partial_line()) result.text = "after half a message";
      return result;
    }
    if (drain_messages(/*keep=*/true)) continue;
    if (messages_ended_) continue;
    if (stop != nullptr && stop->requested()) {
      result.kind = Kind::kStopped;
      return result;
    }
    if (steady_clock::now() >= deadline) {
      result.kind = Kind::kTimeout;
      return result;
    }
    poll_once(deadline, /*for_writing=*/false, stop);
  }
}

std::optional<WorkerExit> WorkerProcess::wait(SteadyTime deadline) {
  while (true) {
    try_reap();
    drain_output();
    if (exit_ || steady_clock::now() >= deadline) return exit_;
    // A worker that is blocked on a full pipe could not end by itself.
    drain_messages(/*keep=*/false);
    ::poll(nullptr, 0, poll_timeout(deadline, kWaitSlice));
  }
}

WorkerExit WorkerProcess::end(double grace_s) {
  try_reap();
  if (!exit_) {
    ::kill(-pid_, SIGTERM);
    wait(deadline_after(grace_s));
  }
  if (!exit_) {
    ::kill(-pid_, SIGKILL);
    wait(deadline_after(kKilledWithin));
  }
  return exit_.value_or(WorkerExit{});
}

std::string WorkerProcess::output_tail() {
  drain_output();
  return tail_.text();
}

void WorkerProcess::clear_output_tail() {
  drain_output();
  tail_.clear();
}

}  // namespace tigon::harness
