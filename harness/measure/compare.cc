#include "harness/measure/compare.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "harness/stats/stop_rule.h"

namespace tigon::harness {
namespace {

// Our table is the report; Google Benchmark's own (and its opening lines on the machine and on how
// the library was built, which concern times that it takes itself) stays off the screen.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

class Contestant {
 public:
  Contestant(Timed timed, std::string_view case_id, Pass pass)
      : release_(std::move(timed.release)) {
    time_.name = std::move(timed.name);
    time_.benchmark = fmt::format("{}/{}/{}", case_id, time_.name, to_string(pass));
    subject_.prepare = std::move(timed.prepare);
    subject_.run = std::move(timed.run);
  }

  void warm(Clock& clock, const TimingLimits& limits) {
    const double us = warm_up(clock, subject_, limits.warm_up);
    per_round_ = static_cast<int>(std::clamp(1e3 * limits.round_ms / std::max(us, 1e-3), 1.0,
                                             1.0 * limits.max_samples_per_round));
    if (release_) release_();
  }

  void enlist(Clock& clock, std::exception_ptr& failure) {
    benchmark::RegisterBenchmark(
        time_.benchmark.c_str(),
        [this, &clock, &failure](benchmark::State& state) { run_round(clock, failure, state); })
        ->UseManualTime()
        ->Iterations(per_round_);
  }

  const ImplementationTime& time() const { return time_; }

  StopDecision decide(const StopRule& rule, double seconds) const {
    return rule.decide(time_.rounds_us, seconds);
  }

  ImplementationTime result(const Contestant* baseline, const TimingLimits& limits) && {
    time_.us = summarize(time_.samples_us);
    time_.noise = median_interval(time_.rounds_us).relative_half_width();
    time_.noisy =
        std::ssize(time_.rounds_us) < limits.min_rounds || !(time_.noise < limits.noise_limit);
    time_.queue_full = subject_.queue_full;
    time_.dropped = subject_.dropped;
    if (baseline != nullptr && baseline != this) {
      time_.speedup = median_paired_ratio(baseline->time_.rounds_us, time_.rounds_us);
    }
    return time_;
  }

 private:
  void run_round(Clock& clock, std::exception_ptr& failure, benchmark::State& state) {
    std::vector<double> round;
    for (auto _ : state) {
      try {
        if (failure == nullptr) {
          const double us = clock.sample_us(subject_);
          state.SetIterationTime(1e-6 * us);
          round.push_back(us);
          continue;
        }
      } catch (...) {
        failure = std::current_exception();
      }
      // Google Benchmark does not expect exceptions: they go round it.
      state.SkipWithError("failed");
      break;
    }
    if (release_) release_();
    if (failure != nullptr) return;
    time_.rounds_us.push_back(median(round));
    time_.samples_us.insert(time_.samples_us.end(), round.begin(), round.end());
  }

  ImplementationTime time_;
  Subject subject_;
  Closure release_;
  int per_round_ = 1;
};

void check_names(const std::vector<Timed>& implementations, std::string_view baseline) {
  if (implementations.empty()) {
    throw std::invalid_argument("time_implementations: no implementations");
  }
  bool found = baseline.empty();
  for (size_t i = 0; i < implementations.size(); ++i) {
    const std::string& name = implementations[i].name;
    found = found || name == baseline;
    for (size_t j = 0; j < i; ++j) {
      if (implementations[j].name == name) {
        throw std::invalid_argument(
            fmt::format("time_implementations: two implementations are named {}", name));
      }
    }
  }
  if (!found) {
    throw std::invalid_argument(fmt::format(
        "time_implementations: baseline is {}, which is no implementation's name", baseline));
  }
}

void run_round(std::vector<Contestant>& contestants, bool reversed, Clock& clock) {
  std::exception_ptr failure;
  benchmark::ClearRegisteredBenchmarks();
  for (size_t i = 0; i < contestants.size(); ++i) {
    contestants[reversed ? contestants.size() - 1 - i : i].enlist(clock, failure);
  }
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace

TimingLimits TimingLimits::for_device(c10::Device device) {
  TimingLimits limits;
  if (!device.is_cuda()) {
    limits.noise_limit = 0.05;
    limits.min_rounds = 15;
    limits.max_rounds = 15;
    limits.min_seconds = 0;
    limits.max_samples_per_round = 5;
    limits.warm_up.block = 3;
    limits.warm_up.settled = 0.1;
  }
  return limits;
}

const ImplementationTime& Comparison::operator[](std::string_view name) const {
  for (const ImplementationTime& time : implementations) {
    if (time.name == name) return time;
  }
  throw std::out_of_range(fmt::format("Comparison: no implementation is named {}", name));
}

Comparison time_implementations(Clock& clock, std::string_view case_id, Pass pass,
                                std::vector<Timed> implementations, std::string_view baseline,
                                const TimingLimits& limits) {
  check_names(implementations, baseline);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  StopRule rule;
  rule.noise_limit = limits.noise_limit;
  rule.min_samples = limits.min_rounds;
  rule.min_seconds = limits.min_seconds;
  rule.max_seconds = limits.max_seconds;

  std::vector<Contestant> contestants;
  contestants.reserve(implementations.size());
  for (Timed& timed : implementations) contestants.emplace_back(std::move(timed), case_id, pass);
  for (Contestant& contestant : contestants) contestant.warm(clock, limits);

  // ABBA has two rounds, and an interval over fewer than two of those says nothing.
  constexpr int kFewestRounds = 4;
  for (int round = 0;; ++round) {
    run_round(contestants, round % 2 == 1, clock);
    if (round % 2 == 0 || round + 1 < kFewestRounds) continue;
    if (round + 1 >= limits.max_rounds) break;
    const double seconds = elapsed();
    const bool all_decided = std::ranges::all_of(contestants, [&](const Contestant& contestant) {
      return contestant.decide(rule, seconds) != StopDecision::kContinue;
    });
    if (all_decided) break;
  }

  Comparison comparison;
  const Contestant* base = nullptr;
  for (const Contestant& contestant : contestants) {
    if (contestant.time().name == baseline) base = &contestant;
  }
  for (Contestant& contestant : contestants) {
    comparison.implementations.push_back(std::move(contestant).result(base, limits));
  }
  comparison.overhead_us = clock.overhead_us();
  comparison.seconds = elapsed();
  return comparison;
}

}  // namespace tigon::harness
