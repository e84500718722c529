// One worker process seen from its parent: started by exec, spoken to over two pipes, its stdout
// and stderr kept as a short tail, and certainly gone when the object is.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/process/message.h"
#include "harness/process/output_tail.h"
#include "harness/process/signals.h"
#include "harness/process/unique_fd.h"

namespace tigon::harness {

using SteadyTime = std::chrono::steady_clock::time_point;

// Deadline `seconds` from now; not finite or very large means never.
SteadyTime deadline_after(double seconds);

// Path of the running binary, for workers that are the same one.
std::string current_executable();

struct WorkerCommand {
  // argv[0] is the path of the binary (no PATH search). "--worker-fds=R,W" is appended: the
  // descriptor the worker reads from and the one it writes to (worker_main.h parses it).
  std::vector<std::string> argv;
  // "NAME=value", added to the parent's environment or replacing what is there.
  std::vector<std::string> environment;
};

// How a process ended.
struct WorkerExit {
  bool known = false;  // false: it could not be reaped (stuck in the kernel)
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;      // 0 when it exited

  // "exited with code 3", "killed by signal 9 (Killed)", "could not be ended".
  std::string describe() const;
};

struct ReadResult {
  enum class Kind {
    kMessage,  // `message` holds a JSON object
    kTimeout,  // the deadline passed without a whole message
    kClosed,   // the worker died or closed its pipe; everything it wrote before was delivered
    kGarbage,  // it wrote something that is no message; `text` shows the beginning
    kStopped,  // the stop flag is raised
  };
  Kind kind;
  nlohmann::json message;
  std::string text;
};

// Not thread-safe. The worker gets PR_SET_PDEATHSIG, which follows the *thread* that spawned it:
// that thread must outlive the worker.
class WorkerProcess {
 public:
  // Starts the command in a process group of its own, stdin from /dev/null, all other descriptors
  // of the parent closed, first in line for the kernel's OOM killer. Throws std::system_error when
  // it can't be started (no such file, no more processes).
  explicit WorkerProcess(const WorkerCommand& command);

  // Kills the worker and whatever it started, and reaps it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // False when the worker takes no more (it died) or the deadline passed. Raises no SIGPIPE.
  bool send(const nlohmann::json& message, SteadyTime deadline);

  // The next message. Keeps reading the worker's output meanwhile, so that it never blocks on it.
  ReadResult read_message(SteadyTime deadline, const StopFlag* stop = nullptr);

  // No more requests: the worker's pipe reads end of file.
  void close_requests() { request_fd_.reset(); }

  // Waits until the worker has ended, or null at the deadline. Messages that come are dropped.
  std::optional<WorkerExit> wait(SteadyTime deadline);

  // Ends the worker: SIGTERM, after `grace_s` SIGKILL. How it ended, also when it already had.
  WorkerExit end(double grace_s);

  pid_t pid() const { return pid_; }

  // Last lines of its stdout and stderr since the last clear.
  std::string output_tail();
  void clear_output_tail();

 private:
  // Sleeps until something can be done, at most a quarter of a second.
  void poll_once(SteadyTime deadline, bool for_writing, const StopFlag* stop);
  void drain_output();
  bool drain_messages(bool keep);
  void try_reap();

  pid_t pid_ = -1;
  UniqueFd request_fd_;
  UniqueFd message_fd_;
  UniqueFd output_fd_;
  MessageDecoder decoder_;
  OutputTail tail_;
  bool messages_ended_ = false;
  std::optional<WorkerExit> exit_;
};

}  // namespace tigon::harness
