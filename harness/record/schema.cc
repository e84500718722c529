#include "harness/record/schema.h"

#include <algorithm>

namespace tigon::harness {
namespace {

constexpr auto kText = ColumnType::kText;
constexpr auto kInteger = ColumnType::kInteger;
constexpr auto kReal = ColumnType::kReal;
constexpr auto kNone = Better::kNone;
constexpr auto kLower = Better::kLower;
constexpr auto kHigher = Better::kHigher;
constexpr bool kGate = true;
constexpr bool kNoGate = false;

constexpr Column kSpeedColumns[] = {
    {"case", kText, "", kNone, kNoGate, "id of the case: operator, axes, dtype, profile"},
    {"op", kText, "", kNone, kNoGate, "operator"},
    {"device", kText, "", kNone, kNoGate, "cpu, cuda:0, ..."},
    {"implementation", kText, "", kNone, kNoGate, "fused, eager, library or reference"},
    {"pass", kText, "", kNone, kNoGate,
     "forward, backward, step (both), or verify for a case that is not timed"},
    {"status", kText, "", kNone, kNoGate,
     "ok, skipped, noisy, invalid, oom, timeout, crash, error or wrong"},
    {"reason", kText, "", kNone, kNoGate, "why the status is not ok"},
    {"verdict", kText, "", kNone, kNoGate,
     "right, wrong, or bound: judged by floor and ceiling, without eager"},
    {"limit_used", kReal, "1", kLower, kNoGate,
     "largest share of an error limit that any tensor used; above 1 is wrong"},
    {"truth", kText, "", kNone, kNoGate, "what it was judged against: eigen, eager_fp64, sampled"},
    {"time_us", kReal, "us", kLower, kGate, "median time"},
    {"time_p10_us", kReal, "us", kLower, kNoGate, "10th percentile of the time"},
    {"time_p90_us", kReal, "us", kLower, kNoGate, "90th percentile of the time"},
    {"time_min_us", kReal, "us", kLower, kNoGate, "least time"},
    {"samples", kInteger, "", kNone, kNoGate, "samples of the time"},
    {"noise", kReal, "1", kLower, kNoGate,
     "half the 95 % confidence interval of the median, relative to it"},
    {"protocol", kText, "", kNone, kNoGate, "how it was timed"},
    {"bytes_read", kInteger, "B", kLower, kNoGate, "least bytes that the formula reads"},
    {"bytes_written", kInteger, "B", kLower, kNoGate, "least bytes that the formula writes"},
    {"flops", kReal, "", kLower, kNoGate, "least floating-point operations of the formula"},
    {"roof_us", kReal, "us", kNone, kNoGate,
     "time at the roof measured in this run for these bytes and flops"},
    {"roof_share", kReal, "1", kHigher, kNoGate, "roof_us / time_us"},
    {"speedup_vs_eager", kReal, "1", kHigher, kGate,
     "eager's time over this one's: median over pairs taken in turn"},
    {"speedup_low", kReal, "1", kHigher, kNoGate, "lower end of its 95 % confidence interval"},
    {"speedup_high", kReal, "1", kHigher, kNoGate, "upper end of its 95 % confidence interval"},
    {"host_us", kReal, "us", kLower, kGate, "host time to enqueue, the queue not being full"},
    {"host_mul_us", kReal, "us", kNone, kNoGate,
     "LibTorch's x * w measured as host_us, for comparison"},
    {"peak_bytes", kInteger, "B", kLower, kGate, "requested bytes at the peak above the inputs"},
    {"saved_bytes", kInteger, "B", kLower, kGate, "bytes that live on for the backward alone"},
    {"workspace_bytes", kInteger, "B", kLower, kGate, "bytes that are neither saved nor results"},
    {"peak_vs_eager", kReal, "1", kLower, kGate, "peak_bytes over eager's"},
    {"launches", kInteger, "", kLower, kGate, "kernel launches"},
    {"seed", kInteger, "", kNone, kNoGate, "seed of the case's inputs"},
    {"stage", kText, "", kNone, kNoGate, "the stage that failed"},
    {"signal", kText, "", kNone, kNoGate, "the signal or device error that ended the worker"},
    {"stderr_tail", kText, "", kNone, kNoGate, "the last of what the worker printed"},
    {"reproduce", kText, "", kNone, kNoGate, "a command that runs this case alone"},
    {"started_at", kText, "", kNone, kNoGate, "when the case began: UTC, ISO 8601"},
    {"binary_digest", kText, "", kNone, kNoGate, "digest of the program; resume compares it"},
    {"git_commit", kText, "", kNone, kNoGate, "commit the program was built from"},
    {"schema", kInteger, "", kNone, kNoGate, "version of these columns"},
};

constexpr Column kPrecisionColumns[] = {
    {"case", kText, "", kNone, kNoGate, "id of the case: operator, axes, dtype, profile"},
    {"op", kText, "", kNone, kNoGate, "operator"},
    {"device", kText, "", kNone, kNoGate, "cpu, cuda:0, ..."},
    {"implementation", kText, "", kNone, kNoGate, "fused, eager, library or reference"},
    {"tensor", kText, "", kNone, kNoGate, "an output, or the gradient of an input"},
    {"dtype", kText, "", kNone, kNoGate, "of the tensor: fp32, bf16, fp16"},
    {"truth", kText, "", kNone, kNoGate, "what it was judged against: eigen, eager_fp64, sampled"},
    {"verdict", kText, "", kNone, kNoGate,
     "right, wrong, or bound: judged by floor and ceiling, without eager"},
    {"limit_used", kReal, "1", kLower, kNoGate,
     "the larger of err_rms / limit_rms and err_max / limit_max"},
    {"err_rms", kReal, "1", kLower, kGate, "RMS of the relative errors"},
    {"err_max", kReal, "1", kLower, kNoGate, "largest relative error"},
    {"eager_err_rms", kReal, "1", kNone, kNoGate, "eager's err_rms"},
    {"eager_err_max", kReal, "1", kNone, kNoGate, "eager's err_max"},
    {"limit_rms", kReal, "1", kNone, kNoGate, "largest err_rms that is right"},
    {"limit_max", kReal, "1", kNone, kNoGate, "largest err_max that is right"},
    {"nonfinite_got", kInteger, "", kNone, kNoGate, "elements that are not finite"},
    {"nonfinite_want", kInteger, "", kNone, kNoGate, "elements of the truth that are not finite"},
    {"elements", kInteger, "", kNone, kNoGate, "elements compared"},
    {"reason", kText, "", kNone, kNoGate, "why it is wrong: where, what was got, what was wanted"},
    {"seed", kInteger, "", kNone, kNoGate, "seed of the case's inputs"},
    {"schema", kInteger, "", kNone, kNoGate, "version of these columns"},
};

}  // namespace

std::span<const Column> speed_columns() { return kSpeedColumns; }

std::span<const Column> precision_columns() { return kPrecisionColumns; }

const Column* find_column(std::span<const Column> columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace tigon::harness
