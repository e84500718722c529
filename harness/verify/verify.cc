#include "harness/verify/verify.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <new>

#include "harness/verify/lanes.h"
#include "harness/verify/side_effects.h"

namespace tigon::harness {
namespace {

// Two fills: a result may not depend on what was in memory before. The first is NaN in every float
// type, the second an ordinary number.
constexpr unsigned char kNanFill = 0xFF;
constexpr unsigned char kOtherFill = 0x3C;

PrecisionRecord make_record(const PreparedCase& prepared, const CaseTruth& truth,
                            std::string_view implementation, const std::string& tensor) {
  PrecisionRecord record;
  record.case_id = prepared.c.id();
  record.op = prepared.op->name;
  record.device = prepared.device.str();
  record.implementation = implementation;
  record.tensor = tensor;
  record.truth = truth.kind;
  record.seed = prepared.seed;
  return record;
}

std::string first_line(std::string text) { return text.substr(0, text.find('\n')); }

}  // namespace

const ImplementationVerdict* Verification::find(std::string_view implementation) const {
  for (const ImplementationVerdict& verdict : verdicts) {
    if (verdict.implementation == implementation) return &verdict;
  }
  return nullptr;
}

Failure describe_failure(const std::exception& error) {
  const std::string text = first_line(error.what());
  const bool oom = dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
                   dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                   text.find("not enough memory") != std::string::npos ||
                   text.find("DefaultCPUAllocator") != std::string::npos;
  if (oom) return {Status::kOom, text};
  const bool of_device = dynamic_cast<const c10::AcceleratorError*>(&error) != nullptr;
  return {of_device ? Status::kCrash : Status::kError, text};
}

Judge::Judge(const PreparedCase& prepared, CaseTruth truth)
    : prepared_(&prepared),
      truth_(std::move(truth)),
      names_(tensor_names(prepared)),
      yardstick_(names_.size()) {}

void Judge::set_yardstick(const std::vector<at::Tensor>& outputs,
                          const std::vector<at::Tensor>& gradients) {
  for (size_t i = 0; i < names_.size(); ++i) {
    const bool is_output = i < outputs.size();
    const size_t k = is_output ? i : i - outputs.size();
    const at::Tensor& got = is_output ? outputs[k] : gradients[k];
    const at::Tensor& want = is_output ? truth_.outputs[k] : truth_.gradients[k];
    const at::Tensor terms = is_output ? at::Tensor() : truth_.terms_of(k);
    if (got.defined()) yardstick_[i] = tensor_error(got, want, terms);
  }
}

ImplementationVerdict Judge::judge(std::string_view implementation,
                                   const std::vector<at::Tensor>& outputs,
                                   const std::vector<at::Tensor>& gradients,
                                   std::vector<PrecisionRecord>* records) const {
  ImplementationVerdict result{std::string(implementation), Status::kOk,
                               std::string(verdict::kRight), 0, ""};
  const Operator& op = *prepared_->op;
  const DType intermediates = op.rounds_to ? op.rounds_to(prepared_->c) : DType::kFloat32;
  for (size_t i = 0; i < names_.size(); ++i) {
    const bool is_output = i < truth_.outputs.size();
    const size_t k = is_output ? i : i - truth_.outputs.size();
    const at::Tensor& want = is_output ? truth_.outputs[k] : truth_.gradients[k];
    const auto& results = is_output ? outputs : gradients;
    PrecisionRecord record = make_record(*prepared_, truth_, implementation, names_[i]);
    Verdict verdict;
    if (k >= results.size() || !results[k].defined()) {
      verdict.reason = is_output ? "no such output was returned" : "no gradient was given";
    } else if (results[k].sizes() != want.sizes()) {
      verdict.reason = fmt::format("shape is {}, expected {}", fmt::streamed(results[k].sizes()),
                                   fmt::streamed(want.sizes()));
    } else if (is_output && results[k].scalar_type() != prepared_->upstream[k].scalar_type()) {
      verdict.reason = fmt::format("dtype is {}, expected {}", toString(results[k].scalar_type()),
                                   toString(prepared_->upstream[k].scalar_type()));
    } else {
      const at::Tensor terms = is_output ? at::Tensor() : truth_.terms_of(k);
      const TensorError error = tensor_error(results[k], want, terms);
      const DType dtype = dtype_of(results[k]);
      const std::optional<TensorError>& eager = yardstick_[i];
      verdict = harness::judge(error, eager, dtype, intermediates,
                               is_output ? Role::kOutput : Role::kGradient);
      record.dtype = to_string(dtype);
      record.elements = error.elements;
      record.err_rms = error.rms;
      record.err_max = error.max;
      record.nonfinite_got = error.nonfinite_got;
      record.nonfinite_want = error.nonfinite_want;
      record.limit_rms = verdict.limit_rms;
      record.limit_max = verdict.limit_max;
      record.limit_used = verdict.used;
      if (eager) {
        record.eager_err_rms = eager->rms;
        record.eager_err_max = eager->max;
      } else if (verdict.right) {
        result.verdict = verdict::kBound;
      }
    }
    result.limit_used = std::max(result.limit_used, verdict.used);
    record.verdict = verdict.right ? verdict::kRight : verdict::kWrong;
    record.reason = verdict.reason;
    if (!verdict.right && result.status == Status::kOk) {
      result.status = Status::kWrong;
      result.verdict = verdict::kWrong;
      result.reason = fmt::format("{}: {}", names_[i], verdict.reason);
    }
    if (records) records->push_back(std::move(record));
  }
  return result;
}

namespace {

ImplementationVerdict judge_program(const Program& program, const PreparedCase& prepared,
                                    Judge& judge, bool is_yardstick,
                                    std::vector<PrecisionRecord>* records) {
  try {
    const std::vector<at::Tensor> outputs = program.forward();
    const std::vector<at::Tensor> gradients = program.backward(outputs, prepared.upstream);
    if (is_yardstick) judge.set_yardstick(outputs, gradients);
    return judge.judge(program.name(), outputs, gradients, records);
  } catch (const std::exception& error) {
    const Failure failure = describe_failure(error);
    return {program.name(), failure.status, "", 0, failure.reason};
  }
}

// The fused kernel's results and that nothing else happened.
ImplementationVerdict judge_fused(const PreparedCase& prepared, const Judge& judge,
                                  const Program::Forward& forward,
                                  std::vector<PrecisionRecord>* records) {
  const std::vector<std::string> names = tensor_names(prepared);
  const bool deterministic = prepared.op->claims(prepared.c).deterministic;
  const Run first = run_guarded(prepared, forward, kNanFill);
  ImplementationVerdict result =
      judge.judge(implementation::kFused, first.outputs, first.gradients, records);
  if (result.status != Status::kOk) return result;

  const auto wrong = [&](std::string reason) {
    result.status = Status::kWrong;
    result.verdict = verdict::kWrong;
    result.reason = std::move(reason);
    return result;
  };
  if (!first.fault.empty()) return wrong(first.fault);
  const auto compare = [&](const Run& run, const char* when) -> std::string {
    if (!run.fault.empty()) return fmt::format("{}: {}", when, run.fault);
    if (deterministic) {
      const std::string difference = first_difference(names, first, run);
      return difference.empty() ? "" : fmt::format("{}: {}", when, difference);
    }
    const ImplementationVerdict again =
        judge.judge(implementation::kFused, run.outputs, run.gradients, nullptr);
    return again.status == Status::kOk ? "" : fmt::format("{}: {}", when, again.reason);
  };
  std::string fault = compare(run_guarded(prepared, forward, kOtherFill), "in a second run");
  for (const Lane& lane : lanes_of(prepared.device)) {
    if (fault.empty()) fault = compare(lane.run(prepared, forward), lane.when);
  }
  if (fault.empty() && deterministic) {
    const std::string stale = check_new_values_in_place(prepared, forward);
    if (!stale.empty()) fault = "with new values in the same memory: " + stale;
  }
  return fault.empty() ? result : wrong(fault);
}

}  // namespace

Verification verify(const PreparedCase& prepared, Judge& judge, const Program::Forward& forward) {
  Verification verification;
  verification.truth = judge.truth().kind;
  auto* records = &verification.records;

  const Program eager = eager_program(*prepared.op, prepared.c, prepared.inputs);
  const ImplementationVerdict eager_verdict =
      judge_program(eager, prepared, judge, /*is_yardstick=*/true, records);

  ImplementationVerdict fused{std::string(implementation::kFused), Status::kOk, "", 0, ""};
  try {
    verification.truth_fault = check_truth(prepared, judge.truth());
    if (verification.truth_fault.empty()) {
      fused = judge_fused(prepared, judge, forward, records);
    } else {
      fused.status = Status::kWrong;
      fused.verdict = verdict::kWrong;
      fused.reason = "the truth cannot be trusted: " + verification.truth_fault;
    }
  } catch (const std::exception& error) {
    const Failure failure = describe_failure(error);
    fused.status = failure.status;
    fused.reason = failure.reason;
  }
  verification.verdicts.push_back(std::move(fused));
  verification.verdicts.push_back(eager_verdict);
  if (const auto library = library_program(*prepared.op, prepared.c, prepared.inputs)) {
    verification.verdicts.push_back(judge_program(*library, prepared, judge, false, records));
  }
  return verification;
}

}  // namespace tigon::harness
