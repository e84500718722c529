#include "harness/process/supervisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "harness/process/memory.h"

namespace tigon::harness {
namespace {

using Kind = ReadResult::Kind;

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string where(const std::string& stage) {
  return stage.empty() ? "before its first stage" : fmt::format("in stage '{}'", stage);
}

// Value of a string member, or the fallback when there is none (or it's no string).
std::string string_member(const nlohmann::json& object, const char* name, const char* fallback) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : fallback;
}

bool is_true(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

// One device's jobs on one worker after another.
class DeviceRun {
 public:
  DeviceRun(const DevicePlan& plan, JobSink& sink, const StopFlag& stop,
            const SupervisorOptions& options)
      : plan_(plan), sink_(sink), stop_(stop), options_(options) {}

  RunSummary run() {
    for (const Job& job : plan_.jobs) {
      if (!run_job(job)) {
        summary_.stopped = true;
        break;
      }
    }
    if (worker_) say_goodbye();
    return summary_;
  }

 private:
  enum class Attempt { kFinished, kNotTaken, kStopped };

  // False when stopped.
  bool run_job(const Job& job) {
    bool again = true;  // the one further try of a job that was not taken
    while (true) {
      if (stop_.requested()) return false;
      if (!given_up_) start_worker();
      if (stop_.requested()) return false;
      Outcome outcome;
      if (given_up_) {
        outcome.kind = OutcomeKind::kSpawnFailed;
        outcome.status = to_string(outcome.kind);
        outcome.reason = start_fault_;
        outcome.stderr_tail = start_tail_;
      } else {
        sink_.on_started(plan_.device, job);
        const Attempt attempt = attempt_job(job, &outcome);
        if (attempt == Attempt::kStopped) return false;
        if (attempt == Attempt::kNotTaken && std::exchange(again, false)) continue;
      }
      sink_.on_finished(plan_.device, job, outcome);
      ++summary_.finished;
      return true;
    }
  }

  // Leaves a worker that is ready, or given_up_, or a raised stop flag.
  void start_worker() {
    if (worker_ && !is_idle()) worker_.reset();
    for (int failed = 1; !worker_ && !given_up_ && !stop_.requested(); ++failed) {
      const std::string fault = try_start();
      if (fault.empty() || failed < options_.max_failed_starts) continue;
      given_up_ = true;
      start_fault_ =
          one_line(fmt::format("no worker could be started ({} attempts): {}", failed, fault));
    }
  }

  // Empty when a worker is ready (or the run was stopped), else what went wrong.
  std::string try_start() {
    std::unique_ptr<WorkerProcess> worker;
    try {
      worker = std::make_unique<WorkerProcess>(plan_.command);
    } catch (const std::exception& error) {
      return error.what();
    }
    if (std::exchange(started_before_, true)) ++summary_.restarts;
    const ReadResult read = worker->read_message(deadline_after(options_.hello_timeout_s), &stop_);
    std::string fault;
    switch (read.kind) {
      case Kind::kMessage: {
        const auto hello = read.message.find("hello");
        if (hello != read.message.end()) {
          worker_ = std::move(worker);
          sink_.on_hello(plan_.device, *hello);
          return {};
        }
        fault = "its first message was not hello";
        break;
      }
      case Kind::kStopped:
        worker->end(options_.kill_grace_s);
        return {};
      case Kind::kTimeout:
        fault = fmt::format("it was not ready within {:g} s", options_.hello_timeout_s);
        break;
      case Kind::kGarbage:
        fault = fmt::format("it wrote what is no message: '{}'", read.text);
        break;
      case Kind::kClosed:
        if (const auto ended = worker->wait(deadline_after(options_.close_grace_s))) {
          fault = fmt::format("it {} before it was ready", was(*ended));
        } else {
          fault = "it closed its pipe before it was ready";
        }
        break;
    }
    worker->end(options_.kill_grace_s);
    start_tail_ = worker->output_tail();
    return fault;
  }

  static std::string was(const WorkerExit& ended) {
    return (ended.signal != 0 ? "was " : "") + ended.describe();
  }

  // A worker that died or spoke between two jobs must not be taken for the next job's fault.
  bool is_idle() { return worker_->read_message(SteadyTime{}).kind == Kind::kTimeout; }

  Attempt attempt_job(const Job& job, Outcome* outcome) {
    worker_->clear_output_tail();
    const std::int64_t oom_kills = count_oom_kills();
    const SteadyTime limit =
        job.total_timeout_s > 0 ? deadline_after(job.total_timeout_s) : SteadyTime::max();
    if (!worker_->send({{"run", job.request}}, std::min(limit, deadline_after(job.timeout_s)))) {
      ended_early(oom_kills, {}, outcome);
      return Attempt::kNotTaken;
    }
    bool taken = false;
    while (true) {
      const SteadyTime silence = deadline_after(job.timeout_s);
      const ReadResult read = worker_->read_message(std::min(silence, limit), &stop_);
      switch (read.kind) {
        case Kind::kStopped:
          retire_worker();
          return Attempt::kStopped;
        case Kind::kTimeout:
          timed_out(job, limit <= silence, outcome);
          return Attempt::kFinished;
        case Kind::kClosed:
          ended_early(oom_kills, read.text, outcome);
          return taken ? Attempt::kFinished : Attempt::kNotTaken;
        case Kind::kGarbage:
          spoke_garbage(read.text, outcome);
          return Attempt::kFinished;
        case Kind::kMessage:
          taken = true;
          if (take_message(job, read.message, outcome)) return Attempt::kFinished;
          break;
      }
      // A worker that never falls silent would not let read_message look at these.
      if (stop_.requested()) {
        retire_worker();
        return Attempt::kStopped;
      }
      if (std::chrono::steady_clock::now() >= limit) {
        timed_out(job, true, outcome);
        return Attempt::kFinished;
      }
    }
  }

  // True when the job is finished by this message.
  bool take_message(const Job& job, const nlohmann::json& message, Outcome* outcome) {
    if (const auto stage = message.find("stage"); stage != message.end() && stage->is_string()) {
      outcome->last_stage = stage->get<std::string>();
      sink_.on_stage(plan_.device, job, outcome->last_stage);
      return false;
    }
    if (const auto row = message.find("row"); row != message.end() && row->is_object()) {
      sink_.on_row(plan_.device, job, *row);
      return false;
    }
    if (is_true(message, "started")) return false;
    const auto done = message.find("done");
    if (done == message.end() || !done->is_object() || !done->contains("status")) {
      spoke_garbage(message.dump(-1, ' ', true).substr(0, 80), outcome);
      return true;
    }
    outcome->kind = OutcomeKind::kDone;
    outcome->status = string_member(*done, "status", "error");
    outcome->reason = one_line(string_member(*done, "reason", ""));
    outcome->fatal = is_true(*done, "fatal");
    outcome->stderr_tail = worker_->output_tail();
    if (outcome->fatal) retire_worker();
    return true;
  }

  void timed_out(const Job& job, bool whole_job, Outcome* outcome) {
    outcome->kind = OutcomeKind::kTimeout;
    outcome->reason = whole_job ? fmt::format("not finished within {:g} s; ended {}",
                                              job.total_timeout_s, where(outcome->last_stage))
                                : fmt::format("no sign of life for {:g} s {}", job.timeout_s,
                                              where(outcome->last_stage));
    finish_broken(outcome);
  }

  void spoke_garbage(const std::string& excerpt, Outcome* outcome) {
    outcome->kind = OutcomeKind::kCrash;
    outcome->reason = one_line(fmt::format("the worker wrote what is no message {}: '{}'",
                                           where(outcome->last_stage), excerpt));
    finish_broken(outcome);
  }

  // The worker's pipe is closed: find out how it died.
  void ended_early(std::int64_t oom_kills_before, const std::string& remark, Outcome* outcome) {
    const auto ended = worker_->wait(deadline_after(options_.close_grace_s));
    outcome->kind = OutcomeKind::kCrash;
    std::string how = "the worker closed its pipe and went on";
    if (ended) {
      how = ended->describe();
      outcome->signal = ended->signal;
      outcome->exit_code = ended->exit_code;
      if (ended->signal == SIGKILL && count_oom_kills() > oom_kills_before) {
        outcome->kind = OutcomeKind::kOom;
        how = "killed by the kernel for want of memory (signal 9)";
      }
    }
    outcome->reason = fmt::format("{} {}", how, where(outcome->last_stage));
    if (!remark.empty()) outcome->reason += ", " + remark;
    finish_broken(outcome);
  }

  void finish_broken(Outcome* outcome) {
    outcome->status = to_string(outcome->kind);
    worker_->end(options_.kill_grace_s);
    outcome->stderr_tail = worker_->output_tail();
    worker_.reset();
  }

  void retire_worker() {
    worker_->end(options_.kill_grace_s);
    worker_.reset();
  }

  void say_goodbye() {
    worker_->clear_output_tail();
    worker_->send({{"quit", true}}, deadline_after(options_.kill_grace_s));
    worker_->close_requests();
    const auto ended = worker_->wait(deadline_after(options_.quit_grace_s));
    if (!ended) {
      summary_.closing_fault =
          fmt::format("the worker did not quit within {:g} s", options_.quit_grace_s);
    } else if (ended->signal != 0 || ended->exit_code != 0) {
      summary_.closing_fault = fmt::format("the worker {} when told to quit", was(*ended));
    }
    retire_worker();
  }

  std::int64_t count_oom_kills() const {
    return options_.oom_kill_count ? options_.oom_kill_count() : oom_kill_count();
  }

  const DevicePlan& plan_;
  JobSink& sink_;
  const StopFlag& stop_;
  const SupervisorOptions& options_;
  std::unique_ptr<WorkerProcess> worker_;
  RunSummary summary_;
  bool started_before_ = false;
  bool given_up_ = false;
  std::string start_fault_;
  std::string start_tail_;
};

}  // namespace

std::string_view to_string(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kDone:
      return "done";
    case OutcomeKind::kCrash:
      return "crash";
    case OutcomeKind::kTimeout:
      return "timeout";
    case OutcomeKind::kOom:
      return "oom";
    case OutcomeKind::kSpawnFailed:
      return "spawn_failed";
  }
  return "unknown";
}

RunSummary run_jobs(const DevicePlan& plan, JobSink& sink, const StopFlag& stop,
                    const SupervisorOptions& options) {
  return DeviceRun(plan, sink, stop, options).run();
}

}  // namespace tigon::harness
