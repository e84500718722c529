#include "harness/worker/case_runner.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/process/message.h"
#include "harness/process/unique_fd.h"
#include "harness/verify/testing.h"

namespace tigon::harness {
namespace {

using testing::broken;
using testing::scaled_square;
using testing::scaled_square_case;

// What a runner did with one request.
struct Sent {
  DoneReply reply;
  std::vector<std::string> stages;
  std::vector<SpeedRecord> speed;
  std::vector<PrecisionRecord> precision;
  nlohmann::json roofs, mutant;

  const SpeedRecord* find(std::string_view implementation, std::string_view pass) const {
    for (const SpeedRecord& record : speed) {
      if (record.implementation == implementation && record.pass == pass) return &record;
    }
    return nullptr;
  }
};

// A channel into memory: nobody has to read while it is written.
template <typename Action>
Sent sent_by(Action action) {
  const UniqueFd file(::memfd_create("channel", MFD_CLOEXEC));
  WorkerChannel channel(file.get());
  Sent sent;
  sent.reply = action(channel);
  std::string text(static_cast<size_t>(::lseek(file.get(), 0, SEEK_CUR)), '\0');
  EXPECT_EQ(::pread(file.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  MessageDecoder decoder;
  decoder.feed(text);
  nlohmann::json message;
  std::string excerpt;
  while (decoder.next(&message, &excerpt) == MessageDecoder::Result::kMessage) {
    if (message.contains("stage")) sent.stages.push_back(message["stage"]);
    if (!message.contains("row")) continue;
    const nlohmann::json& record = message["row"]["record"];
    const std::string file_name = message["row"]["file"];
    if (file_name == "speed") sent.speed.push_back(record.get<SpeedRecord>());
    if (file_name == "precision") sent.precision.push_back(record.get<PrecisionRecord>());
    if (file_name == "roofs") sent.roofs = record;
    if (file_name == "mutant") sent.mutant = record;
  }
  return sent;
}

CaseRequest request_of(const Case& c, bool timed) {
  CaseRequest request;
  request.c = c;
  request.timed = timed;
  request.seed = 7;
  request.time_budget_s = 0.3;
  request.repetitions = 4;
  request.reproduce = "run it";
  request.started_at = "2026-03-01T12:00:00Z";
  request.binary_digest = "d";
  request.git_commit = "c";
  return request;
}

Sent run(const Operator& op, bool timed, const Case& c = scaled_square_case(64, 64)) {
  const std::vector<Operator> operators = {op};
  CaseRunner runner(operators, at::kCPU);
  return sent_by([&](WorkerChannel& channel) { return runner.run(request_of(c, timed), channel); });
}

TEST(CaseRunnerTest, AVerifiedCaseIsOneRowAndItsPrecision) {
  const Sent sent = run(scaled_square(), false);
  EXPECT_EQ(sent.reply.status, "ok");
  EXPECT_FALSE(sent.reply.fatal);
  EXPECT_EQ(sent.stages, (std::vector<std::string>{"inputs", "reference", "verify"}));
  EXPECT_EQ(sent.precision.size(), 6u);
  ASSERT_EQ(sent.speed.size(), 1u);
  SpeedRecord row = sent.speed[0];
  EXPECT_GT(row.limit_used, 0);
  row.limit_used.reset();
  SpeedRecord want;
  want.case_id = "scaled_square/rows=64/hidden=64/fp32/normal";
  want.op = "scaled_square";
  want.device = "cpu";
  want.implementation = "fused";
  want.pass = "verify";
  want.status = Status::kOk;
  want.verdict = "right";
  want.truth = "eigen";
  want.seed = 7;
  want.reproduce = "run it";
  want.started_at = "2026-03-01T12:00:00Z";
  want.binary_digest = "d";
  want.git_commit = "c";
  EXPECT_EQ(row, want);
}

TEST(CaseRunnerTest, AWrongCaseIsNeverTimed) {
  for (const bool timed : {false, true}) {
    const Sent sent = run(broken("forward_off"), timed);
    EXPECT_EQ(sent.reply.status, "wrong");
    ASSERT_EQ(sent.speed.size(), 1u);
    EXPECT_EQ(sent.speed[0].pass, timed ? "step" : "verify");
    EXPECT_EQ(sent.speed[0].status, Status::kWrong);
    EXPECT_EQ(sent.speed[0].verdict, "wrong");
    EXPECT_EQ(sent.speed[0].stage, "verify");
    EXPECT_TRUE(sent.speed[0].reason.starts_with("y: RMS error ")) << sent.speed[0].reason;
    EXPECT_EQ(sent.precision.size(), 6u);
  }
}

TEST(CaseRunnerTest, AnOperatorThatThrowsIsOneRow) {
  const Sent sent = run(broken("throws"), true);
  EXPECT_EQ(sent.reply.status, "error");
  EXPECT_EQ(sent.reply.reason, "x has 64 rows, want luck");
  EXPECT_FALSE(sent.reply.fatal);
  ASSERT_EQ(sent.speed.size(), 1u);
  EXPECT_EQ(sent.speed[0].status, Status::kError);
  EXPECT_EQ(sent.speed[0].reason, "x has 64 rows, want luck");
  EXPECT_EQ(sent.speed[0].verdict, "");
}

TEST(CaseRunnerTest, WantOfMemoryIsOom) {
  EXPECT_EQ(run(broken("out_of_memory"), true).reply.status, "oom");
}

TEST(CaseRunnerTest, AnErrorBeforeVerificationSaysItsStage) {
  Operator op = scaled_square();
  op.make_inputs = [](const Case& c, Draw&) -> Inputs { return {{"x", {}, c.has("no such")}}; };
  op.eager = [](const Case& c, const Inputs&) -> std::vector<at::Tensor> {
    throw std::runtime_error("no inputs for " + c.op);
  };
  const Sent sent = run(op, false);
  EXPECT_EQ(sent.reply.status, "error");
  ASSERT_EQ(sent.speed.size(), 1u);
  EXPECT_EQ(sent.speed[0].stage, "inputs");
}

TEST(CaseRunnerTest, AnErrorOfTheDeviceEndsTheWorker) {
  Operator op = scaled_square();
  op.arguments = [](const Case&, const Inputs&) -> std::vector<c10::IValue> {
    throw c10::AcceleratorError({"here", "file", 1}, 700, "an illegal memory access");
  };
  const Sent sent = run(op, true);
  EXPECT_TRUE(sent.reply.fatal);
  EXPECT_EQ(sent.reply.status, "crash");
  ASSERT_EQ(sent.speed.size(), 1u);
  EXPECT_EQ(sent.speed[0].status, Status::kCrash);
  EXPECT_EQ(sent.speed[0].reason, "an illegal memory access");
}

TEST(CaseRunnerTest, AnUnknownOperatorIsNamed) {
  Case c = scaled_square_case(4, 6);
  c.op = "rms_nrom";
  const Sent sent = run(scaled_square(), false, c);
  EXPECT_EQ(sent.reply.status, "error");
  EXPECT_EQ(sent.reply.reason, "no operator \"rms_nrom\"");
}

TEST(CaseRunnerTest, ATimedCaseHasARowForEachImplementationAndPass) {
  Operator op = scaled_square();
  op.library = op.eager;
  op.has_library = [](const Case&) { return true; };
  const Sent sent = run(op, true);
  EXPECT_EQ(sent.reply.status, "ok") << sent.reply.reason;
  EXPECT_EQ(sent.speed.size(), 9u);
  for (const char* implementation : {"fused", "eager", "library"}) {
    for (const char* pass : {"forward", "backward", "step"}) {
      const SpeedRecord* row = sent.find(implementation, pass);
      ASSERT_NE(row, nullptr) << implementation << ' ' << pass;
      EXPECT_TRUE(is_fine(row->status)) << row->reason;
      EXPECT_EQ(row->verdict, "right");
      EXPECT_GT(row->time_us, 0);
      EXPECT_LE(row->time_min_us, row->time_us);
      EXPECT_GE(row->samples, 4);
      EXPECT_GT(row->speedup_vs_eager, 0);
      EXPECT_LE(row->speedup_low, row->speedup_high);
      EXPECT_GT(row->roof_us, 0);
      EXPECT_NEAR(*row->roof_share, *row->roof_us / *row->time_us, 1e-9);
      EXPECT_EQ(row->peak_bytes.has_value(), std::string_view(pass) == "step");
      EXPECT_EQ(row->reproduce, "run it");
      EXPECT_FALSE(row->host_us.has_value());  // the CPU has no queue
    }
  }
  const int64_t tensor = 64 * 64 * 4;
  const SpeedRecord& step = *sent.find("fused", "step");
  EXPECT_EQ(step.saved_bytes, tensor);
  EXPECT_EQ(step.bytes_read, 3 * tensor);
  EXPECT_EQ(step.bytes_written, 2 * tensor);
  EXPECT_EQ(step.flops, 6.0 * 64 * 64);
  EXPECT_EQ(step.peak_vs_eager, 1);
  EXPECT_EQ(sent.find("eager", "step")->speedup_vs_eager, 1);
  ASSERT_TRUE(sent.roofs.is_array());
  EXPECT_FALSE(sent.roofs.empty());
  EXPECT_GT(sent.roofs[0]["per_second"].get<double>(), 0);
  EXPECT_EQ(sent.stages.back(), "verify again");
}

Sent run_mutant(const Operator& op, const std::string& fault) {
  const std::vector<Operator> operators = {op};
  CaseRunner runner(operators, at::kCPU);
  const MutantRequest request{
      op.name,
      "tigon_test::scaled_square." + fault,
      {scaled_square_case(4, 6), scaled_square_case(4, 6, DType::kFloat32, "zeros")},
      7};
  return sent_by([&](WorkerChannel& channel) { return runner.run_mutant(request, channel); });
}

TEST(RunMutantTest, SaysWhichCaseCaughtItAndWhy) {
  const Sent sent = run_mutant(scaled_square(), "alias");
  EXPECT_EQ(sent.reply.status, "caught");
  EXPECT_EQ(sent.mutant["case"], "scaled_square/rows=4/hidden=6/fp32/normal");
  EXPECT_EQ(sent.mutant["reason"], sent.reply.reason);
}

TEST(RunMutantTest, OneThatThrowsIsCaught) {
  EXPECT_EQ(run_mutant(scaled_square(), "throws").reply.status, "caught");
}

TEST(RunMutantTest, OneThatIsRightSurvives) {
  const Sent sent = run_mutant(scaled_square(), "keeps");
  EXPECT_EQ(sent.reply.status, "survived");
  EXPECT_EQ(sent.reply.reason, "none of 2 cases rejected it");
  EXPECT_TRUE(sent.mutant.is_null());
}

TEST(RunMutantTest, AFaultOfTheCaseItselfCatchesNothing) {
  Operator op = scaled_square();
  op.reference = [](const Case&, const Inputs&, const std::vector<at::Tensor>&) -> Truth {
    throw std::runtime_error("no truth today");
  };
  const Sent sent = run_mutant(op, "forward_off");
  EXPECT_EQ(sent.reply.status, "error");
  EXPECT_EQ(sent.reply.reason, "scaled_square/rows=4/hidden=6/fp32/normal: no truth today");

  op = scaled_square();
  op.reference = [original = op.reference](const Case& c, const Inputs& inputs,
                                           const std::vector<at::Tensor>& upstream) {
    Truth truth = original(c, inputs, upstream);
    truth.outputs[0].second.mul_(2);
    return truth;
  };
  EXPECT_EQ(run_mutant(op, "forward_off").reply.status, "error");
}

}  // namespace
}  // namespace tigon::harness
