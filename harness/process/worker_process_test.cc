#include "harness/process/worker_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "harness/process/pipe_io.h"
#include "harness/process/testing.h"

namespace tigon::harness {
namespace {

using Kind = ReadResult::Kind;
using nlohmann::json;

constexpr double kSoon = 10;  // generous: only a failure takes as long

std::unique_ptr<WorkerProcess> start(const WorkerCommand& command = {{synthetic_worker()}, {}}) {
  auto worker = std::make_unique<WorkerProcess>(command);
  const ReadResult hello = worker->read_message(deadline_after(kSoon));
  EXPECT_EQ(hello.kind, Kind::kMessage);
  EXPECT_EQ(hello.message["hello"]["pid"], worker->pid());
  return worker;
}

bool ask(WorkerProcess& worker, const char* what) {
  return worker.send({{"run", {{"do", what}}}}, deadline_after(kSoon));
}

// The first message that has this member; fails when the worker ends before.
json wait_for(WorkerProcess& worker, const char* member) {
  while (true) {
    const ReadResult read = worker.read_message(deadline_after(kSoon));
    if (read.kind != Kind::kMessage) throw std::runtime_error("no such message came");
    if (read.message.contains(member)) return read.message[member];
  }
}

TEST(WorkerProcess, IsSetUpAsPromised) {
  // None of these may reach the worker.
  const UniqueFd leak(::open("/dev/zero", O_RDONLY));
  ASSERT_TRUE(leak);
  ::signal(SIGPIPE, SIG_IGN);
  ::setenv("TIGON_TEST_ADDED", "old", 1);
  auto worker = start({{synthetic_worker()}, {"TIGON_TEST_ADDED=new"}});
  ::signal(SIGPIPE, SIG_DFL);
  ASSERT_TRUE(ask(*worker, "describe"));
  wait_for(*worker, "row");
  const json self = wait_for(*worker, "row")["record"];
  EXPECT_EQ(self["oom_score_adj"], "1000");
  EXPECT_EQ(self["stdin"], "/dev/null");
  EXPECT_EQ(self["leader"], true);
  EXPECT_EQ(self["sigpipe_default"], true);
  EXPECT_EQ(self["added"], "new");
  const json& fds = self["fds"];
  EXPECT_EQ(fds.size(), 5u) << fds.dump();  // 0, 1, 2, and the two pipes
  EXPECT_EQ(std::count(fds.begin(), fds.end(), json("/dev/zero")), 0);
}

TEST(WorkerProcess, QuitsWhenTold) {
  auto worker = start();
  ASSERT_TRUE(worker->send({{"quit", true}}, deadline_after(kSoon)));
  const auto ended = worker->wait(deadline_after(kSoon));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->describe(), "exited with code 0");
  EXPECT_FALSE(ask(*worker, "answer"));
  EXPECT_EQ(worker->read_message(deadline_after(kSoon)).kind, Kind::kClosed);
  EXPECT_FALSE(has_children());
}

TEST(WorkerProcess, QuitsAtEndOfFile) {
  auto worker = start();
  worker->close_requests();
  const auto ended = worker->wait(deadline_after(kSoon));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 0);
}

TEST(WorkerProcess, DeliversWhatWasWrittenBeforeTheDeath) {
  auto worker = start();
  ASSERT_TRUE(ask(*worker, "abort"));
  wait_for(*worker, "row");
  wait_for(*worker, "stage");
  EXPECT_EQ(worker->read_message(deadline_after(kSoon)).kind, Kind::kClosed);
  const auto ended = worker->wait(deadline_after(kSoon));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->describe(), "killed by signal 6 (Aborted)");
  EXPECT_EQ(worker->output_tail(), "about to abort\nfor a reason");
}

TEST(WorkerProcess, EndGoesFromTermToKill) {
  auto polite = start();
  ASSERT_TRUE(ask(*polite, "wait"));
  EXPECT_EQ(polite->end(kSoon).signal, SIGTERM);

  auto stubborn = start();
  ASSERT_TRUE(ask(*stubborn, "hang"));
  wait_for(*stubborn, "row");
  while (wait_for(*stubborn, "stage") != "hang") {
  }
  ::usleep(50000);  // from its last word to ignoring SIGTERM
  EXPECT_EQ(stubborn->end(0.1).signal, SIGKILL);
  EXPECT_EQ(stubborn->end(0.1).signal, SIGKILL);
  EXPECT_FALSE(has_children());
}

TEST(WorkerProcess, DestructorLeavesNothing) {
  const int before = open_descriptors();
  pid_t pid = 0;
  {
    auto worker = start();
    ASSERT_TRUE(ask(*worker, "hang"));
    pid = worker->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_FALSE(has_children());
  EXPECT_EQ(open_descriptors(), before);
}

TEST(WorkerProcess, ReadGivesUpAtTheDeadlineAndAtAStop) {
  auto worker = start();
  EXPECT_EQ(worker->read_message(deadline_after(0.05)).kind, Kind::kTimeout);
  StopFlag stop;
  stop.request();
  EXPECT_EQ(worker->read_message(deadline_after(kSoon), &stop).kind, Kind::kStopped);
}

TEST(WorkerProcess, AStoppedReaderDoesNotHoldUpSend) {
  auto worker = start();
  ::kill(worker->pid(), SIGSTOP);
  const std::string large(1 << 20, 'x');  // more than the pipe holds
  EXPECT_FALSE(worker->send({{"run", large}}, deadline_after(0.1)));
}

TEST(WorkerProcess, ReportsWhatCannotBeStarted) {
  const int before = open_descriptors();  // NOLINT: read below the try
  try {
    WorkerProcess worker({{"/nonexistent/tigon"}, {}});
    FAIL() << "started";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/tigon"), std::string::npos);
  }
  EXPECT_THROW(WorkerProcess({{}, {}}), std::invalid_argument);
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(has_children());
}

TEST(WorkerProcess, DiesWithItsParent) {
  Pipe report = make_pipe();
  const pid_t parent = ::fork();
  if (parent == 0) {
    WorkerProcess worker({{synthetic_worker()}, {}});
    const bool ready = worker.read_message(deadline_after(kSoon)).kind == Kind::kMessage;
    ask(worker, "hang");
    const pid_t pid = ready ? worker.pid() : 0;
    if (::write(report.write_end.get(), &pid, sizeof(pid)) != sizeof(pid)) ::_exit(1);
    ::_exit(0);  // no destructor runs
  }
  pid_t pid = 0;
  ASSERT_EQ(::read(report.read_end.get(), &pid, sizeof(pid)), ssize_t{sizeof(pid)});
  ::waitpid(parent, nullptr, 0);
  ASSERT_GT(pid, 0);
  const SteadyTime limit = deadline_after(kSoon);
  while (is_alive(pid) && std::chrono::steady_clock::now() < limit) ::usleep(5000);
  EXPECT_FALSE(is_alive(pid));
}

}  // namespace
}  // namespace tigon::harness
