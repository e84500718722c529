#include "harness/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "harness/record/cell.h"
#include "harness/record/utf8.h"
#include "harness/sweep/suggest.h"

namespace tigon::harness {
namespace {

using nlohmann::json;

// The one place that ties fields to columns: visit(name, field), in the order of the columns.
template <typename Record, typename Visit>
requires std::is_same_v<std::remove_const_t<Record>, SpeedRecord>
void for_each_field(Record& r, Visit&& visit) {
  visit("case", r.case_id);
  visit("op", r.op);
  visit("device", r.device);
  visit("implementation", r.implementation);
  visit("pass", r.pass);
  visit("status", r.status);
  visit("reason", r.reason);
  visit("verdict", r.verdict);
  visit("limit_used", r.limit_used);
  visit("truth", r.truth);
  visit("time_us", r.time_us);
  visit("time_p10_us", r.time_p10_us);
  visit("time_p90_us", r.time_p90_us);
  visit("time_min_us", r.time_min_us);
  visit("samples", r.samples);
  visit("noise", r.noise);
  visit("protocol", r.protocol);
  visit("bytes_read", r.bytes_read);
  visit("bytes_written", r.bytes_written);
  visit("flops", r.flops);
  visit("roof_us", r.roof_us);
  visit("roof_share", r.roof_share);
  visit("speedup_vs_eager", r.speedup_vs_eager);
  visit("speedup_low", r.speedup_low);
  visit("speedup_high", r.speedup_high);
  visit("host_us", r.host_us);
  visit("host_mul_us", r.host_mul_us);
  visit("peak_bytes", r.peak_bytes);
  visit("saved_bytes", r.saved_bytes);
  visit("workspace_bytes", r.workspace_bytes);
  visit("peak_vs_eager", r.peak_vs_eager);
  visit("launches", r.launches);
  visit("seed", r.seed);
  visit("stage", r.stage);
  visit("signal", r.signal);
  visit("stderr_tail", r.stderr_tail);
  visit("reproduce", r.reproduce);
  visit("started_at", r.started_at);
  visit("binary_digest", r.binary_digest);
  visit("git_commit", r.git_commit);
  visit("schema", r.schema);
}

template <typename Record, typename Visit>
requires std::is_same_v<std::remove_const_t<Record>, PrecisionRecord>
void for_each_field(Record& r, Visit&& visit) {
  visit("case", r.case_id);
  visit("op", r.op);
  visit("device", r.device);
  visit("implementation", r.implementation);
  visit("tensor", r.tensor);
  visit("dtype", r.dtype);
  visit("truth", r.truth);
  visit("verdict", r.verdict);
  visit("limit_used", r.limit_used);
  visit("err_rms", r.err_rms);
  visit("err_max", r.err_max);
  visit("eager_err_rms", r.eager_err_rms);
  visit("eager_err_max", r.eager_err_max);
  visit("limit_rms", r.limit_rms);
  visit("limit_max", r.limit_max);
  visit("nonfinite_got", r.nonfinite_got);
  visit("nonfinite_want", r.nonfinite_want);
  visit("elements", r.elements);
  visit("reason", r.reason);
  visit("seed", r.seed);
  visit("schema", r.schema);
}

std::string write_cell(const std::string& value) { return value; }
std::string write_cell(Status value) { return std::string(to_string(value)); }
template <typename T>
std::string write_cell(const T& value) {
  return to_cell(value);
}

void read_cell(const std::string& cell, std::string& value) { value = cell; }
void read_cell(const std::string& cell, Status& value) { value = parse_status(cell); }
template <typename T>
void read_cell(const std::string& cell, T& value) {
  from_cell(cell, value);
}

template <typename Record>
std::vector<std::string> row_of(const Record& record) {
  std::vector<std::string> row;
  for_each_field(record,
                 [&](std::string_view, const auto& field) { row.push_back(write_cell(field)); });
  return row;
}

void check_schema_version(int64_t version) {
  if (version >= 1 && version <= kSchemaVersion) return;
  throw std::invalid_argument(fmt::format(
      "column \"schema\": got version {}, this program reads 1 to {}", version, kSchemaVersion));
}

template <typename Record>
Record record_of(std::span<const std::string> columns, std::span<const std::string> row) {
  if (columns.size() != row.size()) {
    throw std::invalid_argument(
        fmt::format("row: got {} cells, want {}", row.size(), columns.size()));
  }
  // First of all the version: a newer row may well have columns that are not known here.
  const auto schema = std::find(columns.begin(), columns.end(), "schema");
  if (schema != columns.end()) {
    int64_t version = 0;
    from_cell(row[static_cast<std::size_t>(schema - columns.begin())], version);
    check_schema_version(version);
  }
  Record record;
  std::vector<std::string> known;
  for_each_field(record, [&](std::string_view name, auto& field) {
    known.emplace_back(name);
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end()) {
      throw std::invalid_argument(fmt::format("column \"{}\" is missing", name));
    }
    try {
      read_cell(row[static_cast<std::size_t>(found - columns.begin())], field);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("column \"{}\": {}", name, error.what()));
    }
  });
  for (const std::string& column : columns) {
    if (std::find(known.begin(), known.end(), column) == known.end()) {
      throw std::invalid_argument(unknown_name("column", column, known));
    }
  }
  return record;
}

// JSON has no nan and no infinities: they stand as the texts that to_cell gives them.
json json_value(double value) { return value - value == 0 ? json(value) : json(to_cell(value)); }
json json_value(int64_t value) { return value; }
json json_value(uint64_t value) { return value; }

void put(json& out, std::string_view name, const std::string& value) {
  if (!value.empty()) out[std::string(name)] = valid_utf8(value);
}
void put(json& out, std::string_view name, Status value) {
  out[std::string(name)] = std::string(to_string(value));
}
void put(json& out, std::string_view name, int64_t value) { out[std::string(name)] = value; }
template <typename T>
void put(json& out, std::string_view name, const std::optional<T>& value) {
  if (value) out[std::string(name)] = json_value(*value);
}

// A number goes through its text, so that CSV and JSON accept and refuse the same values.
void get(const json& value, std::string& field) { field = value.get<std::string>(); }
void get(const json& value, Status& field) { field = parse_status(value.get<std::string>()); }
void get(const json& value, double& field) {
  if (value.is_number()) {
    field = value.get<double>();
  } else {
    from_cell(value.get<std::string>(), field);
  }
}
void get(const json& value, int64_t& field) { from_cell(value.dump(), field); }
void get(const json& value, uint64_t& field) { from_cell(value.dump(), field); }
template <typename T>
void get(const json& value, std::optional<T>& field) {
  get(value, field.emplace());
}

template <typename Record>
void write_json(json& out, const Record& record) {
  out = json::object();
  for_each_field(record, [&](std::string_view name, const auto& field) { put(out, name, field); });
}

template <typename Record>
void read_json(const json& in, Record& record) {
  if (!in.is_object()) throw std::invalid_argument("record: got no JSON object");
  record = Record();
  std::size_t read = 0;
  std::vector<std::string> known;
  for_each_field(record, [&](std::string_view name, auto& field) {
    known.emplace_back(name);
    const auto found = in.find(known.back());
    if (found == in.end()) return;
    ++read;
    try {
      get(*found, field);
    } catch (const std::exception& error) {
      throw std::invalid_argument(fmt::format("key \"{}\": {}", name, error.what()));
    }
  });
  check_schema_version(record.schema);
  if (read == in.size()) return;
  for (const auto& [key, value] : in.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw std::invalid_argument(unknown_name("key", key, known));
    }
  }
}

}  // namespace

std::vector<std::string> to_row(const SpeedRecord& record) { return row_of(record); }
std::vector<std::string> to_row(const PrecisionRecord& record) { return row_of(record); }

SpeedRecord speed_from_row(std::span<const std::string> columns, std::span<const std::string> row) {
  return record_of<SpeedRecord>(columns, row);
}

PrecisionRecord precision_from_row(std::span<const std::string> columns,
                                   std::span<const std::string> row) {
  return record_of<PrecisionRecord>(columns, row);
}

void to_json(json& out, const SpeedRecord& record) { write_json(out, record); }
void to_json(json& out, const PrecisionRecord& record) { write_json(out, record); }
void from_json(const json& in, SpeedRecord& record) { read_json(in, record); }
void from_json(const json& in, PrecisionRecord& record) { read_json(in, record); }

ExitCode exit_code(std::span<const SpeedRecord> records) {
  ExitCode result = ExitCode::kFine;
  for (const SpeedRecord& record : records) {
    if (record.status == Status::kOom && record.implementation != implementation::kFused) continue;
    result = worst(result, exit_code(record.status));
  }
  return result;
}

}  // namespace tigon::harness
