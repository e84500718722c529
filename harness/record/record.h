// One row of results. Workers send records to their parent as JSON, the parent writes them as CSV.
// Absent is not zero: a value that was not measured is an empty cell and no JSON key.
#pragma once

#include <compare>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/exit_code.h"
#include "harness/record/schema.h"
#include "harness/record/status.h"

namespace tigon::harness {

namespace implementation {
inline constexpr std::string_view kFused = "fused";
inline constexpr std::string_view kEager = "eager";
inline constexpr std::string_view kLibrary = "library";
inline constexpr std::string_view kReference = "reference";
}  // namespace implementation

namespace pass {
inline constexpr std::string_view kForward = "forward";
inline constexpr std::string_view kBackward = "backward";
inline constexpr std::string_view kStep = "step";
// The only pass of a case that is verified and not timed. A timed case that fails before it is
// timed has one row, of the step.
inline constexpr std::string_view kVerify = "verify";
}  // namespace pass

namespace verdict {
inline constexpr std::string_view kRight = "right";
inline constexpr std::string_view kWrong = "wrong";
// Right as far as floor and ceiling tell: eager could not be had for comparison.
inline constexpr std::string_view kBound = "bound";
}  // namespace verdict

// What makes a row of speed.csv (part = pass) or precision.csv (part = tensor) the only one.
struct RecordKey {
  std::string case_id;
  std::string device;
  std::string implementation;
  std::string part;

  // NOLINTNEXTLINE(modernize-use-nullptr): the 0 is the comparison's own.
  friend auto operator<=>(const RecordKey&, const RecordKey&) = default;
};

// The fields are the columns of schema.h under the same names (case_id is `case`), in the same
// order and with units, direction and meaning as said there. An empty string is an absent value.
struct SpeedRecord {
  std::string case_id;
  std::string op;
  std::string device;
  std::string implementation;
  std::string pass;
  Status status = Status::kOk;
  std::string reason;
  std::string verdict;
  std::optional<double> limit_used;
  std::string truth;
  std::optional<double> time_us;
  std::optional<double> time_p10_us;
  std::optional<double> time_p90_us;
  std::optional<double> time_min_us;
  std::optional<int64_t> samples;
  std::optional<double> noise;
  std::string protocol;
  std::optional<int64_t> bytes_read;
  std::optional<int64_t> bytes_written;
  std::optional<double> flops;
  std::optional<double> roof_us;
  std::optional<double> roof_share;
  std::optional<double> speedup_vs_eager;
  std::optional<double> speedup_low;
  std::optional<double> speedup_high;
  std::optional<double> host_us;
  std::optional<double> host_mul_us;
  std::optional<int64_t> peak_bytes;
  std::optional<int64_t> saved_bytes;
  std::optional<int64_t> workspace_bytes;
  std::optional<double> peak_vs_eager;
  std::optional<int64_t> launches;
  std::optional<uint64_t> seed;
  std::string stage;
  std::string signal;
  std::string stderr_tail;
  std::string reproduce;
  std::string started_at;
  std::string binary_digest;
  std::string git_commit;
  int64_t schema = kSchemaVersion;

  RecordKey key() const { return {case_id, device, implementation, pass}; }
  friend bool operator==(const SpeedRecord&, const SpeedRecord&) = default;
};

struct PrecisionRecord {
  std::string case_id;
  std::string op;
  std::string device;
  std::string implementation;
  std::string tensor;
  std::string dtype;
  std::string truth;
  std::string verdict;
  std::optional<double> limit_used;
  std::optional<double> err_rms;
  std::optional<double> err_max;
  std::optional<double> eager_err_rms;
  std::optional<double> eager_err_max;
  std::optional<double> limit_rms;
  std::optional<double> limit_max;
  std::optional<int64_t> nonfinite_got;
  std::optional<int64_t> nonfinite_want;
  std::optional<int64_t> elements;
  std::string reason;
  std::optional<uint64_t> seed;
  int64_t schema = kSchemaVersion;

  RecordKey key() const { return {case_id, device, implementation, tensor}; }
  friend bool operator==(const PrecisionRecord&, const PrecisionRecord&) = default;
};

// The cells of a record, in the order of its columns.
std::vector<std::string> to_row(const SpeedRecord& record);
std::vector<std::string> to_row(const PrecisionRecord& record);

// A record from the cells of the named columns, which may stand in any order. Throws
// std::invalid_argument naming the column: one that this schema does not have, or lacks, or whose
// cell cannot be read as its type; and when the row's schema version is newer than this program's.
SpeedRecord speed_from_row(std::span<const std::string> columns, std::span<const std::string> row);
PrecisionRecord precision_from_row(std::span<const std::string> columns,
                                   std::span<const std::string> row);

// JSON has neither nan nor infinities: those stand as the texts "nan", "inf" and "-inf". Bytes that
// are not UTF-8 (a stderr tail) become '?'. from_json throws std::invalid_argument naming the key,
// also for a key that is no column.
void to_json(nlohmann::json& json, const SpeedRecord& record);
void to_json(nlohmann::json& json, const PrecisionRecord& record);
void from_json(const nlohmann::json& json, SpeedRecord& record);
void from_json(const nlohmann::json& json, PrecisionRecord& record);

// The exit code of a run with these rows: the worst of theirs. That a baseline (any implementation
// but `fused`) ran out of memory is a finding about the baseline and no fault.
ExitCode exit_code(std::span<const SpeedRecord> records);

}  // namespace tigon::harness
