#include "harness/process/supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "harness/process/supervisor_testing.h"

namespace tigon::harness {
namespace {

using nlohmann::json;

class Supervisor : public SupervisorTest {
 protected:
  // Runs the job between two good ones, which must not be touched by what it does.
  Outcome run_between_good_ones(const Job& middle) {
    Job first = job("answer"), last = job("answer");
    first.id = "first";
    last.id = "last";
    summary_ = run_jobs(plan_of({first, middle, last}), notebook_, stop_, options_);
    EXPECT_EQ(summary_.finished, 3);
    EXPECT_FALSE(summary_.stopped);
    EXPECT_EQ(summary_.closing_fault, "");
    if (notebook_.finished.size() != 3) throw std::runtime_error("not three outcomes");
    EXPECT_EQ(notebook_.finished[0].id, "first");
    EXPECT_EQ(notebook_.finished[1].id, middle.id);
    EXPECT_EQ(notebook_.finished[2].id, "last");
    for (const int good : {0, 2}) {
      EXPECT_EQ(notebook_.finished[good].outcome.kind, OutcomeKind::kDone);
      EXPECT_EQ(notebook_.finished[good].outcome.status, "ok");
      EXPECT_EQ(notebook_.finished[good].outcome.stderr_tail, "");
    }
    return notebook_.finished[1].outcome;
  }

  Outcome expect_crash(const std::string& what, const std::string& reason) {
    Outcome outcome = run_between_good_ones(job(what));
    EXPECT_EQ(outcome.kind, OutcomeKind::kCrash);
    EXPECT_EQ(outcome.status, "crash");
    EXPECT_EQ(outcome.reason, reason);
    EXPECT_EQ(outcome.last_stage, what);
    EXPECT_EQ(summary_.restarts, 1);
    EXPECT_EQ(notebook_.hellos(), 2);
    // What it reported before is kept.
    EXPECT_FALSE(notebook_.rows[what].empty());
    return outcome;
  }
};

TEST_F(Supervisor, OneWorkerAnswersAll) {
  Job talker = job("answer");
  talker.id = "talker";
  talker.request["say"] = "two\nlines";
  summary_ = run_jobs(plan_of({talker, job("big_row"), job("answer")}), notebook_, stop_, options_);
  EXPECT_EQ(summary_.restarts, 0);
  EXPECT_EQ(notebook_.log,
            (std::vector<std::string>{"cpu hello", "cpu talker", "cpu big_row", "cpu answer"}));
  const Outcome& outcome = notebook_.finished[0].outcome;
  EXPECT_EQ(outcome.reason, "two lines");
  EXPECT_EQ(outcome.last_stage, "answer");
  EXPECT_EQ(outcome.signal, 0);
  ASSERT_EQ(notebook_.rows["big_row"].size(), 2u);
  EXPECT_EQ(notebook_.rows["big_row"][1]["file"], "precision");
  EXPECT_EQ(notebook_.rows["big_row"][1]["record"]["text"].get<std::string>().size(), 4u << 20);
}

TEST_F(Supervisor, NoJobsNoWorker) {
  summary_ = run_jobs(plan_of({}, {"--mode=die_before_hello"}), notebook_, stop_, options_);
  EXPECT_EQ(summary_.finished, 0);
  EXPECT_TRUE(notebook_.log.empty());
}

TEST_F(Supervisor, Segfault) {
  const Outcome outcome =
      expect_crash("segfault", "killed by signal 11 (Segmentation fault) in stage 'segfault'");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_EQ(outcome.exit_code, -1);
}

TEST_F(Supervisor, Abort) {
  const Outcome outcome = expect_crash("abort", "killed by signal 6 (Aborted) in stage 'abort'");
  EXPECT_EQ(outcome.stderr_tail, "about to abort\nfor a reason");
}

TEST_F(Supervisor, Exit) {
  const Outcome outcome = expect_crash("exit3", "exited with code 3 in stage 'exit3'");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.signal, 0);
}

TEST_F(Supervisor, HalfAMessage) {
  expect_crash("half_message", "exited with code 0 in stage 'half_message', after half a message");
  EXPECT_EQ(notebook_.rows["half_message"].size(), 1u);
}

TEST_F(Supervisor, Garbage) {
  expect_crash("garbage",
               "the worker wrote what is no message in stage 'garbage': 'this is no JSON'");
}

TEST_F(Supervisor, UnknownMessage) {
  expect_crash("unknown_message",
               "the worker wrote what is no message in stage "
               "'unknown_message': '{\"surprise\":1}'");
}

TEST_F(Supervisor, ChildrenOfACrashedWorkerDoNotHoldUpTheSweep) {
  expect_crash("leave_a_child", "killed by signal 6 (Aborted) in stage 'leave_a_child'");
  ASSERT_GT(notebook_.child, 0);
  const SteadyTime limit = deadline_after(5);
  while (is_alive(notebook_.child) && std::chrono::steady_clock::now() < limit) ::usleep(2000);
  EXPECT_FALSE(is_alive(notebook_.child));
}

TEST_F(Supervisor, KilledFromOutside) {
  notebook_.act_on_stage = [&](const Job&, const std::string& stage) {
    if (stage == "wait") ::kill(notebook_.pid, SIGKILL);
  };
  const Outcome outcome = expect_crash("wait", "killed by signal 9 (Killed) in stage 'wait'");
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST_F(Supervisor, KilledByTheKernelForMemory) {
  std::int64_t kills = 5;
  options_.oom_kill_count = [&] { return kills; };
  notebook_.act_on_stage = [&](const Job&, const std::string& stage) {
    if (stage != "wait") return;
    ++kills;
    ::kill(notebook_.pid, SIGKILL);
  };
  const Outcome outcome = run_between_good_ones(job("wait"));
  EXPECT_EQ(outcome.kind, OutcomeKind::kOom);
  EXPECT_EQ(outcome.status, "oom");
  EXPECT_EQ(outcome.reason, "killed by the kernel for want of memory (signal 9) in stage 'wait'");
}

TEST_F(Supervisor, AnOomKillElsewhereIsNoExcuseForASegfault) {
  std::int64_t kills = 0;
  options_.oom_kill_count = [&] { return ++kills; };
  EXPECT_EQ(run_between_good_ones(job("segfault")).kind, OutcomeKind::kCrash);
}

TEST_F(Supervisor, AllocationBeyondTheLimitKeepsTheWorker) {
  const Outcome outcome = run_between_good_ones(job("take_all_memory"));
  EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
  EXPECT_EQ(outcome.status, "oom");
  EXPECT_EQ(summary_.restarts, 0);
}

TEST_F(Supervisor, Exceptions) {
  Outcome outcome = run_between_good_ones(job("throw"));
  EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
  EXPECT_EQ(outcome.status, "error");
  EXPECT_EQ(outcome.reason, "deliberate failure");
  EXPECT_EQ(summary_.restarts, 0);
}

TEST_F(Supervisor, AFatalReplyReplacesTheWorker) {
  const Outcome outcome = run_between_good_ones(job("fatal"));
  EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
  EXPECT_EQ(outcome.status, "error");
  EXPECT_TRUE(outcome.fatal);
  EXPECT_EQ(outcome.reason, "CUDA error: an illegal memory access");
  EXPECT_EQ(summary_.restarts, 1);
}

TEST_F(Supervisor, Hang) {
  const Outcome outcome = run_between_good_ones(job("hang", 0.3));
  EXPECT_EQ(outcome.kind, OutcomeKind::kTimeout);
  EXPECT_EQ(outcome.status, "timeout");
  EXPECT_EQ(outcome.reason, "no sign of life for 0.3 s in stage 'hang'");
  EXPECT_EQ(summary_.restarts, 1);
}

TEST_F(Supervisor, PrintingIsNoSignOfLife) {
  const Outcome outcome = run_between_good_ones(job("print_forever", 0.3));
  EXPECT_EQ(outcome.kind, OutcomeKind::kTimeout);
  EXPECT_GT(outcome.stderr_tail.size(), 3000u);
  EXPECT_LE(outcome.stderr_tail.size(), OutputTail::kMaxBytes);
}

TEST_F(Supervisor, PrintingMegabytesHoldsNobodyUp) {
  const Outcome outcome = run_between_good_ones(job("print_a_lot"));
  EXPECT_EQ(outcome.kind, OutcomeKind::kDone);
  EXPECT_EQ(outcome.status, "ok");
  EXPECT_NE(outcome.stderr_tail.find("last words"), std::string::npos);
}

TEST_F(Supervisor, TheWholeJobHasALimitToo) {
  const Outcome outcome = run_between_good_ones(job("stage_forever", 20, 0.3));
  EXPECT_EQ(outcome.kind, OutcomeKind::kTimeout);
  EXPECT_EQ(outcome.reason, "not finished within 0.3 s; ended in stage 'again'");
}

TEST_F(Supervisor, AWorkerThatDiesIdleCostsNoJob) {
  notebook_.act_on_finished = [&](const Job& finished) {
    if (finished.id != "answer") return;
    ::kill(notebook_.pid, SIGKILL);
    while (is_alive(notebook_.pid)) ::usleep(1000);
  };
  const Outcome outcome = run_between_good_ones(job("answer"));
  EXPECT_EQ(outcome.status, "ok");
  EXPECT_EQ(summary_.restarts, 1);
}

TEST_F(Supervisor, AJobThatWasNotTakenIsTriedOnceMore) {
  const std::string file = "--starts-file=" + (folder_ / "starts").string();
  summary_ =
      run_jobs(plan_of({job("answer")}, {"--mode=drop_once", file}), notebook_, stop_, options_);
  ASSERT_EQ(notebook_.finished.size(), 1u);
  EXPECT_EQ(notebook_.finished[0].outcome.status, "ok");
  EXPECT_EQ(summary_.restarts, 1);
}

TEST_F(Supervisor, AJobThatIsNeverTakenIsACrash) {
  summary_ = run_jobs(plan_of({job("answer"), job("answer")}, {"--mode=drop_always"}), notebook_,
                      stop_, options_);
  ASSERT_EQ(notebook_.finished.size(), 2u);
  for (const auto& [id, outcome] : notebook_.finished) {
    EXPECT_EQ(outcome.kind, OutcomeKind::kCrash);
    EXPECT_EQ(outcome.reason, "killed by signal 6 (Aborted) before its first stage");
  }
  EXPECT_EQ(summary_.restarts, 3);
}

TEST_F(Supervisor, GivesUpWhenNoWorkerGetsReady) {
  summary_ = run_jobs(plan_of({job("answer"), job("abort")}, {"--mode=die_before_hello"}),
                      notebook_, stop_, options_);
  ASSERT_EQ(notebook_.finished.size(), 2u);
  for (const auto& [id, outcome] : notebook_.finished) {
    EXPECT_EQ(outcome.kind, OutcomeKind::kSpawnFailed);
    EXPECT_EQ(outcome.status, "spawn_failed");
    EXPECT_EQ(outcome.reason,
              "no worker could be started (3 attempts): it exited with code 7 before it was ready");
    EXPECT_EQ(outcome.stderr_tail, "cannot open the device");
  }
  EXPECT_EQ(summary_.restarts, 2);
}

TEST_F(Supervisor, TwoFailedStartsAreForgiven) {
  const std::string file = "--starts-file=" + (folder_ / "starts").string();
  summary_ =
      run_jobs(plan_of({job("answer"), job("abort"), job("answer")}, {"--mode=third_start", file}),
               notebook_, stop_, options_);
  ASSERT_EQ(notebook_.finished.size(), 3u);
  EXPECT_EQ(notebook_.finished[0].outcome.status, "ok");
  EXPECT_EQ(notebook_.finished[1].outcome.status, "crash");
  EXPECT_EQ(notebook_.finished[2].outcome.status, "ok");
}

TEST_F(Supervisor, StartFaultsAreTold) {
  const auto reason_of = [&](const DevicePlan& plan) {
    notebook_.finished.clear();
    options_.hello_timeout_s = 0.1;
    run_jobs(plan, notebook_, stop_, options_);
    return notebook_.finished.at(0).outcome.reason;
  };
  EXPECT_EQ(reason_of(plan_of({job("answer")}, {"--mode=silent"})),
            "no worker could be started (3 attempts): it was not ready within 0.1 s");
  DevicePlan missing = plan_of({job("answer")});
  missing.command.argv[0] = "/nonexistent/tigon";
  EXPECT_EQ(reason_of(missing),
            "no worker could be started (3 attempts): cannot start the worker "
            "/nonexistent/tigon: No such file or directory");
  options_.hello_timeout_s = 10;
  EXPECT_EQ(reason_of(plan_of({job("answer")}, {"--mode=rude"})),
            "no worker could be started (3 attempts): it wrote what is no message: 'hello there'");
}

TEST_F(Supervisor, ABadEndingIsTold) {
  summary_ = run_jobs(plan_of({job("answer")}, {"--mode=bad_ending"}), notebook_, stop_, options_);
  EXPECT_EQ(summary_.finished, 1);
  EXPECT_EQ(summary_.closing_fault, "the worker exited with code 9 when told to quit");
}

TEST_F(Supervisor, ASignalStopsTheRun) {
  StopOnSignals guard(stop_, {SIGINT});
  std::jthread user;
  notebook_.act_on_stage = [&](const Job&, const std::string& stage) {
    if (stage != "hang") return;
    user = std::jthread([] {
      ::usleep(100000);
      ::kill(::getpid(), SIGINT);
    });
  };
  const auto start = std::chrono::steady_clock::now();
  summary_ =
      run_jobs(plan_of({job("answer"), job("hang"), job("answer")}), notebook_, stop_, options_);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_TRUE(summary_.stopped);
  EXPECT_EQ(summary_.finished, 1);
  EXPECT_EQ(notebook_.log, (std::vector<std::string>{"cpu hello", "cpu answer"}));
}

TEST_F(Supervisor, AStopReachesABusyWorkerAndOneThatIsNotReady) {
  notebook_.act_on_stage = [&](const Job&, const std::string&) { stop_.request(); };
  EXPECT_TRUE(run_jobs(plan_of({job("stage_forever")}), notebook_, stop_, options_).stopped);
  EXPECT_TRUE(notebook_.finished.empty());
  EXPECT_TRUE(
      run_jobs(plan_of({job("answer")}, {"--mode=silent"}), notebook_, stop_, options_).stopped);
  EXPECT_TRUE(notebook_.finished.empty());
}

TEST_F(Supervisor, WhatASinkThrowsReachesTheCaller) {
  notebook_.act_on_finished = [](const Job&) { throw std::runtime_error("disk full"); };
  EXPECT_THROW(run_jobs(plan_of({job("answer")}), notebook_, stop_, options_), std::runtime_error);
}

TEST_F(Supervisor, AllInOneSweep) {
  notebook_.act_on_stage = [&](const Job&, const std::string& stage) {
    if (stage == "wait") ::kill(notebook_.pid, SIGKILL);
  };
  const std::vector<std::pair<Job, std::string>> sweep = {{job("answer"), "ok"},
                                                          {job("segfault"), "crash"},
                                                          {job("exit3"), "crash"},
                                                          {job("hang", 0.2), "timeout"},
                                                          {job("take_all_memory"), "oom"},
                                                          {job("wait"), "crash"},
                                                          {job("answer"), "ok"},
                                                          {job("close_pipe", 0.2), "crash"},
                                                          {job("garbage"), "crash"},
                                                          {job("half_message"), "crash"},
                                                          {job("throw_int"), "error"},
                                                          {job("fatal"), "error"},
                                                          {job("kill_self"), "crash"},
                                                          {job("print_forever", 0.2), "timeout"},
                                                          {job("answer"), "ok"}};
  std::vector<Job> jobs;
  for (const auto& [one, status] : sweep) jobs.push_back(one);
  options_.close_grace_s = 0.2;
  summary_ = run_jobs(plan_of(jobs), notebook_, stop_, options_);
  ASSERT_EQ(notebook_.finished.size(), sweep.size());
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    EXPECT_EQ(notebook_.finished[i].id, sweep[i].first.id);
    EXPECT_EQ(notebook_.finished[i].outcome.status, sweep[i].second) << sweep[i].first.id;
  }
  EXPECT_EQ(notebook_.finished[7].outcome.reason,
            "the worker closed its pipe and went on in stage 'close_pipe'");
}

}  // namespace
}  // namespace tigon::harness
