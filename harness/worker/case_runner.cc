#include "harness/worker/case_runner.h"

#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include <stdexcept>

#include "harness/verify/verify.h"
#include "harness/worker/case_row.h"
#include "harness/worker/measure_case.h"

namespace tigon::harness {
namespace {

nlohmann::json to_json(const std::vector<RoofMeasurement>& measurements) {
  nlohmann::json json = nlohmann::json::array();
  for (const RoofMeasurement& m : measurements) {
    json.push_back({{"bytes", m.bytes},
                    {"reads", m.reads},
                    {"writes", m.writes},
                    {"dtype", m.dtype},
                    {"way", m.way},
                    {"per_second", m.per_second}});
  }
  return json;
}

// How the case ended. A process whose device failed is of no further use.
DoneReply done(Status status, const std::string& reason) {
  return {std::string(to_string(status)), reason, status == Status::kCrash};
}

}  // namespace

CaseRunner::CaseRunner(const std::vector<Operator>& operators, c10::Device device)
    : operators_(operators), device_(device) {}

void CaseRunner::prepare_to_measure() {
  if (clock_) return;
  clock_ = make_clock(device_);
  roof_ = std::make_unique<Roof>(*clock_);
}

DoneReply CaseRunner::run(const CaseRequest& request, WorkerChannel& channel) {
  const c10::OptionalDeviceGuard guard(device_);
  SpeedRecord base = case_row(request, device_.str());
  std::string stage;
  const auto enter = [&](const char* name) { channel.stage(stage = name); };
  try {
    const Operator& op = find_operator(operators_, request.c.op);
    enter("inputs");
    const PreparedCase prepared = prepare(op, request.c, device_, request.seed);
    enter("reference");
    Judge judge(prepared, find_truth(prepared));
    base.truth = judge.truth().kind;
    enter("verify");
    const Verification verification = verify(prepared, judge, dispatcher_forward(op, op.fused));
    for (const PrecisionRecord& record : verification.records) channel.row("precision", record);

    const ImplementationVerdict& fused = *verification.find(implementation::kFused);
    base.verdict = fused.verdict;
    base.limit_used = fused.limit_used;
    if (!request.timed || fused.status != Status::kOk) {
      base.status = fused.status;
      base.reason = fused.reason;
      base.stage = fused.status == Status::kOk ? "" : stage;
      channel.row("speed", base);
      return done(fused.status, fused.reason);
    }
    DoneReply reply;
    stage = "measure";
    prepare_to_measure();
    for (const SpeedRecord& row : measure_case(
             {prepared, judge, verification, base, request.time_budget_s, request.repetitions},
             *clock_, *roof_, channel)) {
      if (row.implementation == implementation::kFused && !is_fine(row.status)) {
        reply = done(row.status, row.reason);
      }
      channel.row("speed", row);
    }
    channel.row("roofs", to_json(roof_->measurements()));
    return reply;
  } catch (const std::exception& error) {
    const Failure failure = describe_failure(error);
    base.status = failure.status;
    base.reason = failure.reason;
    base.stage = stage;
    channel.row("speed", base);
    return done(failure.status, failure.reason);
  }
}

DoneReply CaseRunner::run_mutant(const MutantRequest& request, WorkerChannel& channel) {
  const c10::OptionalDeviceGuard guard(device_);
  const Operator& op = find_operator(operators_, request.op);
  const Program::Forward mutant = dispatcher_forward(op, request.mutant);
  for (const Case& c : request.cases) {
    channel.stage(c.id());
    try {
      const PreparedCase prepared = prepare(op, c, device_, request.seed);
      Judge judge(prepared, find_truth(prepared));
      const Verification verification = verify(prepared, judge, mutant);
      if (!verification.truth_fault.empty()) {
        return done(Status::kError, c.id() + ": " + verification.truth_fault);
      }
      const ImplementationVerdict& verdict = *verification.find(implementation::kFused);
      if (verdict.status == Status::kOk) continue;
      const bool crashed = verdict.status == Status::kCrash;
      // A case that rejects the product too is no proof that it would notice the mutant.
      if (!crashed) {
        const Verification product = verify(prepared, judge, dispatcher_forward(op, op.fused));
        const ImplementationVerdict& right = *product.find(implementation::kFused);
        if (right.status != Status::kOk) {
          return done(Status::kError, fmt::format("{}: the product itself is not right there: {}",
                                                  c.id(), right.reason));
        }
      }
      channel.row("mutant", {{"case", c.id()}, {"reason", verdict.reason}});
      return {"caught", verdict.reason, crashed};
    } catch (const std::exception& error) {
      // What the mutant itself throws is in its verdict: this is no proof of anything.
      const Failure failure = describe_failure(error);
      return done(failure.status, c.id() + ": " + failure.reason);
    }
  }
  return {"survived", fmt::format("none of {} cases rejected it", request.cases.size()), false};
}

}  // namespace tigon::harness
