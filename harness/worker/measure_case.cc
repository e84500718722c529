#include "harness/worker/measure_case.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "harness/measure/compare.h"
#include "harness/measure/host_time.h"
#include "harness/measure/memory.h"
#include "harness/measure/pass.h"

namespace tigon::harness {
namespace {

constexpr Pass kPasses[] = {Pass::kForward, Pass::kBackward, Pass::kStep};

// What the last timed launch wrote. Emptied before each sample, while nothing is timed, so that no
// sample contains a release.
struct LastResults {
  std::vector<at::Tensor> outputs, gradients;
  void clear() {
    gradients.clear();
    outputs.clear();
  }
};

struct Measured {
  Program program;
  std::optional<MemoryUse> memory;
  std::optional<HostTime> host;
  std::map<Pass, ImplementationTime> times;
  std::map<Pass, double> roof_us;
  LastResults last;
  Status status = Status::kOk;
  std::string reason;
};

using AllMeasured = std::vector<std::unique_ptr<Measured>>;

PassCost pass_cost(const Cost& cost, Pass pass) {
  if (pass == Pass::kForward) return cost.forward;
  if (pass == Pass::kBackward) return cost.backward;
  return {cost.forward.bytes_read + cost.backward.bytes_read,
          cost.forward.bytes_written + cost.backward.bytes_written,
          cost.forward.flops + cost.backward.flops};
}

AllMeasured runnable_programs(const CaseToMeasure& c) {
  const PreparedCase& p = c.prepared;
  AllMeasured all;
  const auto add = [&](Program program) {
    const ImplementationVerdict* verdict = c.verification.find(program.name());
    // No figure for a kernel that was not first found right; eager is the yardstick, right or not.
    const bool right = verdict && verdict->status == Status::kOk;
    const bool wrong_eager =
        verdict && verdict->status == Status::kWrong && program.name() == implementation::kEager;
    if (right || wrong_eager) {
      all.push_back(
          std::make_unique<Measured>(Measured{std::move(program), {}, {}, {}, {}, {}, {}, {}}));
    }
  };
  add(fused_program(*p.op, p.c, p.inputs));
  add(eager_program(*p.op, p.c, p.inputs));
  if (auto library = library_program(*p.op, p.c, p.inputs)) add(std::move(*library));
  return all;
}

void measure_memory_of(Measured& m, const CaseToMeasure& c) {
  try {
    const at::AutoGradMode grad(true);
    m.memory = measure_memory(
        c.prepared.device, [&] { return m.program.forward(); },
        [&](const std::vector<at::Tensor>& outputs) {
          return m.program.backward(outputs, c.prepared.upstream);
        });
  } catch (const std::exception& error) {
    const Failure failure = describe_failure(error);
    m.status = failure.status;
    m.reason = failure.reason;
  }
}

// Claims are upper bounds that the operator's header gives.
std::string broken_claim(const Claims& claims, const MemoryUse& use) {
  if (claims.saved_bytes >= 0 && use.saved_bytes > claims.saved_bytes) {
    return fmt::format("keeps {} bytes for the backward, claims at most {}", use.saved_bytes,
                       claims.saved_bytes);
  }
  if (claims.workspace_bytes >= 0 && use.workspace_bytes > claims.workspace_bytes) {
    return fmt::format("takes {} bytes of workspace, claims at most {}", use.workspace_bytes,
                       claims.workspace_bytes);
  }
  return "";
}

Timed timed_program(Measured& m, Pass pass, const CaseToMeasure& c) {
  Timed timed = timed_pass(
      m.program.name(), pass, [&m] { return m.last.outputs = m.program.forward(); },
      [&m, &c](const std::vector<at::Tensor>& outputs) {
        return m.last.gradients = m.program.backward(outputs, c.prepared.upstream);
      });
  timed.prepare = [&m, prepare = timed.prepare] {
    m.last.clear();
    if (prepare) prepare();
  };
  timed.release = {};  // the results of the last launch are judged
  return timed;
}

void time_pass(AllMeasured& all, Pass pass, const CaseToMeasure& c, Clock& clock) {
  std::vector<Timed> timed;
  bool has_eager = false;
  for (auto& m : all) {
    if (m->status != Status::kOk) continue;
    has_eager = has_eager || m->program.name() == implementation::kEager;
    timed.push_back(timed_program(*m, pass, c));
  }
  if (timed.empty()) return;
  TimingLimits limits = TimingLimits::for_device(c.prepared.device);
  limits.max_seconds = c.time_budget_s / static_cast<double>(std::size(kPasses));
  if (c.repetitions > 0) limits.min_rounds = limits.max_rounds = static_cast<int>(c.repetitions);
  const Comparison comparison =
      time_implementations(clock, c.prepared.c.id(), pass, std::move(timed),
                           has_eager ? implementation::kEager : std::string_view(), limits);
  for (auto& m : all) {
    if (m->status == Status::kOk) m->times[pass] = comparison[m->program.name()];
  }
}

// A time above 110 % of its roof is measured once more, roof and all; then it is invalid.
void hold_to_roof(AllMeasured& all, Pass pass, const CaseToMeasure& c, Clock& clock, Roof& roof) {
  const PassCost cost = pass_cost(c.prepared.op->cost(c.prepared.c), pass);
  const at::ScalarType dtype = scalar_type(c.prepared.c.dtype);
  const auto beats = [&](const Measured& m, double roof_us) {
    return m.status == Status::kOk && beats_roof(m.times.at(pass).us.median, roof_us);
  };
  double roof_us = roof.time_us(cost, dtype);
  if (std::ranges::any_of(all, [&](const auto& m) { return beats(*m, roof_us); })) {
    roof.forget(cost, dtype);
    roof_us = roof.time_us(cost, dtype);
    time_pass(all, pass, c, clock);
  }
  for (auto& m : all) {
    m->roof_us[pass] = roof_us;
    if (!beats(*m, roof_us)) continue;
    const double time_us = m->times.at(pass).us.median;
    m->status = Status::kInvalid;
    m->reason =
        fmt::format("{} took {:.4g} us, {:.0f} % of what the roof of {:.4g} us allows, twice",
                    to_string(pass), time_us, 100 * roof_us / time_us, roof_us);
  }
}

void verify_again(AllMeasured& all, const CaseToMeasure& c) {
  for (auto& m : all) {
    // Eager need not be right to be the yardstick, and was judged before.
    if (m->status != Status::kOk || m->program.name() == implementation::kEager) continue;
    const ImplementationVerdict verdict =
        c.judge.judge(m->program.name(), m->last.outputs, m->last.gradients, nullptr);
    if (verdict.status == Status::kOk) continue;
    m->status = Status::kWrong;
    m->reason = "what the timed launches wrote is wrong: " + verdict.reason;
  }
}

SpeedRecord make_row(const Measured& m, Pass pass, const CaseToMeasure& c, const Measured* eager) {
  SpeedRecord row = c.base;
  row.implementation = m.program.name();
  row.pass = to_string(pass);
  row.status = m.status;
  row.reason = m.reason;
  if (const ImplementationVerdict* verdict = c.verification.find(m.program.name())) {
    row.verdict = m.status == Status::kWrong ? std::string(verdict::kWrong) : verdict->verdict;
    row.limit_used = verdict->limit_used;
  }
  const PassCost cost = pass_cost(c.prepared.op->cost(c.prepared.c), pass);
  row.bytes_read = cost.bytes_read;
  row.bytes_written = cost.bytes_written;
  row.flops = static_cast<double>(cost.flops);
  const auto time = m.times.find(pass);
  if (time != m.times.end() && m.status != Status::kWrong) {
    const ImplementationTime& t = time->second;
    row.time_us = t.us.median;
    row.time_p10_us = t.us.p10;
    row.time_p90_us = t.us.p90;
    row.time_min_us = t.us.min;
    row.samples = t.us.count;
    row.noise = t.noise;
    if (t.noisy && row.status == Status::kOk) row.status = Status::kNoisy;
    if (eager && eager->status == Status::kOk) {
      row.speedup_vs_eager = t.speedup.estimate;
      row.speedup_low = t.speedup.low;
      row.speedup_high = t.speedup.high;
    }
    if (const auto roof = m.roof_us.find(pass); roof != m.roof_us.end()) {
      row.roof_us = roof->second;
      row.roof_share = roof->second / t.us.median;
    }
  }
  if (pass == Pass::kStep && m.memory) {
    row.peak_bytes = m.memory->peak_bytes;
    row.saved_bytes = m.memory->saved_bytes;
    row.workspace_bytes = m.memory->workspace_bytes;
    if (eager && eager->memory && eager->memory->peak_bytes > 0) {
      row.peak_vs_eager = static_cast<double>(m.memory->peak_bytes) /
                          static_cast<double>(eager->memory->peak_bytes);
    }
    if (m.host) {
      row.host_us = m.host->step_us;
      row.host_mul_us = m.host->multiply_us;
    }
  }
  return row;
}

// One row for an implementation that has no figures.
SpeedRecord make_unmeasured_row(const ImplementationVerdict& verdict, const CaseToMeasure& c) {
  SpeedRecord row = c.base;
  row.implementation = verdict.implementation;
  row.pass = pass::kVerify;
  row.status = verdict.status;
  row.verdict = verdict.verdict;
  row.limit_used = verdict.limit_used;
  row.reason = verdict.reason;
  return row;
}

}  // namespace

std::vector<SpeedRecord> measure_case(const CaseToMeasure& c, Clock& clock, Roof& roof,
                                      WorkerChannel& channel) {
  AllMeasured all = runnable_programs(c);
  const Measured* eager = nullptr;
  channel.stage("memory");
  for (auto& m : all) {
    measure_memory_of(*m, c);
    if (m->program.name() == implementation::kEager && m->status == Status::kOk) eager = m.get();
    if (m->program.name() == implementation::kFused && m->memory) {
      m->reason = broken_claim(c.prepared.op->claims(c.prepared.c), *m->memory);
      if (!m->reason.empty()) m->status = Status::kWrong;
    }
  }
  for (const Pass pass : kPasses) {
    channel.stage(fmt::format("time {}", to_string(pass)));
    time_pass(all, pass, c, clock);
    channel.stage(fmt::format("roof {}", to_string(pass)));
    hold_to_roof(all, pass, c, clock, roof);
  }
  channel.stage("verify again");
  verify_again(all, c);
  for (auto& m : all) m->last.clear();

  // On a CPU there is no queue: the host's time is the time.
  if (c.prepared.device.is_cuda()) {
    channel.stage("host time");
    const at::Tensor x = c.prepared.inputs.all().front().tensor;
    for (auto& m : all) {
      if (m->status != Status::kOk) continue;
      m->host = measure_host_time(
          [&] { m->program.backward(m->program.forward(), c.prepared.upstream); }, x, x);
    }
  }

  std::vector<SpeedRecord> rows;
  for (const auto& m : all) {
    for (const Pass pass : kPasses) rows.push_back(make_row(*m, pass, c, eager));
  }
  for (const ImplementationVerdict& verdict : c.verification.verdicts) {
    const bool measured = std::ranges::any_of(
        all, [&](const auto& m) { return m->program.name() == verdict.implementation; });
    if (!measured) rows.push_back(make_unmeasured_row(verdict, c));
  }
  return rows;
}

}  // namespace tigon::harness
