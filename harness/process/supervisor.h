// Runs cases in worker processes so that whatever a case does to its process costs that case alone.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/process/signals.h"
#include "harness/process/worker_process.h"

namespace tigon::harness {

struct Job {
  std::string id;
  nlohmann::json request;      // handed to the worker as it is
  double timeout_s = 60;       // the longest silence allowed between two messages
  double total_timeout_s = 0;  // the whole job; 0: no limit
};

// The jobs of one device, one worker at a time.
struct DevicePlan {
  std::string device;  // "cpu", "cuda:0": a name only, repeated to the sink
  WorkerCommand command;
  std::vector<Job> jobs;
  bool exclusive = false;  // nothing else runs meanwhile (the CPU: its timing would be disturbed)
};

enum class OutcomeKind {
  kDone,         // the worker reported; its own status and reason are in the outcome
  kCrash,        // the worker died, or wrote garbage
  kTimeout,      // silent or busy for too long; killed
  kOom,          // killed by the kernel for want of memory
  kSpawnFailed,  // no worker could be started
};

std::string_view to_string(OutcomeKind kind);

struct Outcome {
  OutcomeKind kind = OutcomeKind::kDone;
  // kDone: what the worker said ("ok", "wrong", "oom", "error"...). Otherwise "crash", "timeout",
  // "oom", "spawn_failed".
  std::string status;
  std::string reason;  // one sentence for a person, no line break
  bool fatal = false;  // the worker said that it can't go on (sticky CUDA error); it was restarted
  int signal = 0;      // that ended the worker, 0 if none did
  int exit_code = -1;  // of a worker that exited by itself, else -1
  std::string last_stage;   // "" when none was reported
  std::string stderr_tail;  // last lines of stdout and stderr during this job; many lines
};

// Told what happens, in order. In run_on_devices the calls of all devices come one at a time, from
// different threads. What a callback throws ends the run and reaches the caller.
class JobSink {
 public:
  virtual ~JobSink() = default;
  // A worker is ready: at the first start and at each restart.
  virtual void on_hello(const std::string& device, const nlohmann::json& hello) = 0;
  // The job is handed to a worker; again, when that worker died before taking it up.
  virtual void on_started(const std::string& /*device*/, const Job& /*job*/) {}
  virtual void on_stage(const std::string& device, const Job& job, const std::string& stage) = 0;
  // `row` is {"file": ..., "record": {...}}.
  virtual void on_row(const std::string& device, const Job& job, const nlohmann::json& row) = 0;
  // Exactly once per job, unless the run was stopped. Rows sent before a crash were delivered.
  virtual void on_finished(const std::string& device, const Job& job, const Outcome& outcome) = 0;
};

struct SupervisorOptions {
  double hello_timeout_s = 180;  // a CUDA context on a machine of eight GPUs takes its time
  double quit_grace_s = 10;      // for a worker that was told to quit
  double kill_grace_s = 2;       // between SIGTERM and SIGKILL
  double close_grace_s = 20;     // from the end of a worker's pipe to its death: contexts are freed
  int max_failed_starts = 3;     // in a row, before the rest of the jobs are given up
  // The count of OOM kills that could have hit a worker; tests replace it.
  std::function<std::int64_t()> oom_kill_count;  // null: memory.h's
};

struct RunSummary {
  int finished = 0;           // outcomes delivered
  int restarts = 0;           // workers started after the first
  bool stopped = false;       // by the stop flag: the remaining jobs got no outcome
  std::string closing_fault;  // the last worker broke while quitting, after all jobs; "" if not
};

// Runs the jobs one after the other. A job whose worker died before taking it up is tried again
// once: its fault was the idle worker's.
RunSummary run_jobs(const DevicePlan& plan, JobSink& sink, const StopFlag& stop,
                    const SupervisorOptions& options = {});

}  // namespace tigon::harness
