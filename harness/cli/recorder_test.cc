#include "harness/cli/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "harness/verify/testing.h"
#include "harness/worker/request.h"

namespace tigon::harness {
namespace {

class RecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tigon_recorder_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    results_.emplace(folder_);
    progress_.emplace(log_, 2, 10.0, ProgressOptions{.now = [this] { return clock_; }});
    recorder_.emplace(*results_, *progress_, nlohmann::json{{"seed", 7}});
  }
  // By hand: LibTorch's libraries carry a std::filesystem of their own, whose remove_all crashes.
  void TearDown() override {
    for (const std::string_view file : {kSpeedFile, kPrecisionFile, kEnvironmentFile}) {
      std::filesystem::remove(folder_ / file);
    }
    std::filesystem::remove(folder_);
  }

  Job job() const {
    CaseRequest request;
    request.c = testing::scaled_square_case(4, 6);
    request.seed = 7;
    request.reproduce = "run it";
    request.binary_digest = "d";
    return {request.c.id(), to_json(request)};
  }
  SpeedRecord row(const std::string& pass, std::optional<double> time_us = std::nullopt) const {
    SpeedRecord record;
    record.case_id = job().id;
    record.op = "scaled_square";
    record.device = "cpu";
    record.implementation = "fused";
    record.pass = pass;
    record.verdict = "right";
    record.limit_used = 0.25;
    record.time_us = time_us;
    return record;
  }
  void send(const std::string& device, const std::string& file, const nlohmann::json& record) {
    recorder_->on_row(device, job(), {{"file", file}, {"record", record}});
  }
  void finish(const std::string& device, Outcome outcome = {}) {
    recorder_->on_finished(device, job(), outcome);
  }
  Results written() const { return read_results(folder_); }

  std::filesystem::path folder_;
  std::ostringstream log_;
  double clock_ = 0;
  std::optional<ResultsWriter> results_;
  std::optional<Progress> progress_;
  std::optional<Recorder> recorder_;
};

TEST_F(RecorderTest, RowsAreWrittenAsTheyCome) {
  send("cpu", "speed", row("forward", 12));
  EXPECT_EQ(written().speed.size(), 1u);
  PrecisionRecord precision;
  precision.case_id = job().id;
  precision.device = "cpu";
  precision.tensor = "y";
  send("cpu", "precision", precision);
  EXPECT_EQ(written().precision.size(), 1u);
  EXPECT_TRUE(recorder_->records().empty());
  finish("cpu");
  ASSERT_EQ(recorder_->records().size(), 1u);
  EXPECT_EQ(recorder_->records()[0], row("forward", 12));
  EXPECT_NE(log_.str().find("right 25"), std::string::npos) << log_.str();
  EXPECT_NE(log_.str().find("forward 12"), std::string::npos) << log_.str();
}

TEST_F(RecorderTest, ACrashIsARowOfItsOwnBesideThoseThatWereSent) {
  send("cpu", "speed", row("forward", 12));
  Outcome outcome;
  outcome.kind = OutcomeKind::kCrash;
  outcome.signal = SIGSEGV;
  outcome.reason = "killed by signal 11 (Segmentation fault) in stage 'time step'";
  outcome.last_stage = "time step";
  outcome.stderr_tail = "last words";
  finish("cpu", outcome);
  const Results results = written();
  ASSERT_EQ(results.speed.size(), 2u);
  EXPECT_EQ(results.speed[0].pass, "forward");
  const SpeedRecord& crash = results.speed[1];
  EXPECT_EQ(crash.case_id, job().id);
  EXPECT_EQ(crash.implementation, "fused");
  EXPECT_EQ(crash.pass, "verify");
  EXPECT_EQ(crash.status, Status::kCrash);
  EXPECT_EQ(crash.signal, "SIGSEGV");
  EXPECT_EQ(crash.stage, "time step");
  EXPECT_EQ(crash.stderr_tail, "last words");
  EXPECT_EQ(crash.reproduce, "run it");
  EXPECT_EQ(crash.binary_digest, "d");
  EXPECT_EQ(crash.seed, 7u);
  EXPECT_EQ(exit_code(recorder_->records()), ExitCode::kNotMeasured);
  EXPECT_NE(log_.str().find("crash: killed by signal 11"), std::string::npos) << log_.str();
}

TEST_F(RecorderTest, EveryWayToFailHasItsStatus) {
  for (const auto& [kind, status] : {std::pair{OutcomeKind::kTimeout, Status::kTimeout},
                                     {OutcomeKind::kOom, Status::kOom},
                                     {OutcomeKind::kSpawnFailed, Status::kCrash},
                                     {OutcomeKind::kDone, Status::kError}}) {
    Outcome outcome;
    outcome.kind = kind;  // kDone: but it sent no row
    outcome.reason = "why";
    outcome.signal = kind == OutcomeKind::kOom ? SIGRTMIN + 1 : 0;
    finish("cpu", outcome);
    EXPECT_EQ(recorder_->records().back().status, status);
    EXPECT_EQ(recorder_->records().back().signal,
              kind == OutcomeKind::kOom ? "signal " + std::to_string(SIGRTMIN + 1) : "");
  }
  EXPECT_EQ(recorder_->spawn_failure(), "why");
}

TEST_F(RecorderTest, TheEnvironmentKnowsDevicesAndRoofsAsTheyCome) {
  recorder_->on_hello("cuda:0", {{"name", "Some GPU"}});
  EXPECT_EQ(written().environment.at("devices").at("cuda:0").at("name"), "Some GPU");
  EXPECT_EQ(written().environment.at("seed"), 7);
  const auto roof = [](int64_t bytes, double rate) {
    return nlohmann::json{{"bytes", bytes}, {"reads", 1},     {"writes", 1},
                          {"dtype", ""},    {"way", "copy_"}, {"per_second", rate}};
  };
  send("cuda:0", "roofs", {roof(100, 1.0), roof(200, 2.0)});
  // A worker that was started anew has measured one of them again, and another.
  send("cuda:0", "roofs", {roof(200, 3.0), roof(300, 4.0)});
  const nlohmann::json roofs = written().environment.at("roofs").at("cuda:0");
  EXPECT_EQ(roofs, (nlohmann::json{roof(100, 1.0), roof(200, 3.0), roof(300, 4.0)}));
}

TEST_F(RecorderTest, TwoDevicesMayRunTheSameCase) {
  recorder_->set_weights({{{"cpu", job().id}, 9.0}, {{"cuda:0", job().id}, 1.0}});
  SpeedRecord gpu = row("forward", 3);
  gpu.device = "cuda:0";
  send("cpu", "speed", row("forward", 12));
  send("cuda:0", "speed", gpu);
  clock_ = 9;
  finish("cpu");
  // 9 of 10 seconds' work took 9 seconds: one is left.
  EXPECT_NE(log_.str().find("[1/2] 0:01 left"), std::string::npos) << log_.str();
  EXPECT_EQ(recorder_->records().size(), 1u);
  finish("cuda:0");
  ASSERT_EQ(recorder_->records().size(), 2u);
  EXPECT_EQ(recorder_->records()[1].device, "cuda:0");
}

}  // namespace
}  // namespace tigon::harness
