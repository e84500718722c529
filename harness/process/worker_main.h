// The worker's side: takes requests from its pipe, reports stages, rows and results.
#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/process/message.h"

namespace tigon::harness {

struct WorkerFds {
  int in = -1;   // requests
  int out = -1;  // messages
};

// Value of --worker-fds ("3,4"); null when it isn't two different descriptors above 2.
std::optional<WorkerFds> parse_worker_fds(std::string_view text);

struct DoneReply {
  std::string status = "ok";
  std::string reason;
  bool fatal = false;  // this process is of no further use (sticky CUDA error): it will be replaced
};

// What a case's code reports through. Each call also tells the parent that the worker lives; long
// stages should repeat stage() within the job's timeout. May be called from any thread. Throws
// std::runtime_error once the parent is gone.
class WorkerChannel {
 public:
  explicit WorkerChannel(int out_fd) : out_fd_(out_fd) {}

  void stage(std::string_view name);
  // `file` is "speed" or "precision"; the record's numbers are text cells (JSON has no NaN).
  void row(std::string_view file, const nlohmann::json& record);

  void send(const nlohmann::json& message);

 private:
  std::mutex mutex_;
  int out_fd_;
};

using WorkerHandler = std::function<DoneReply(const nlohmann::json& request, WorkerChannel&)>;

// Says hello, then answers requests until told to quit; returns the process's exit code: 0 after
// quit, end of file or a fatal reply, 1 when the pipe broke or carried no message.
// std::bad_alloc from the handler gives status "oom", any other exception "error" with its what().
// LibTorch's allocators throw c10::Error instead: a handler that knows LibTorch maps those itself.
int worker_loop(int in_fd, int out_fd, const nlohmann::json& hello, const WorkerHandler& handler);

}  // namespace tigon::harness
