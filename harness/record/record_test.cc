#include "harness/record/record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace tigon::harness {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Texts names(std::span<const Column> columns) {
  Texts result;
  for (const Column& column : columns) result.emplace_back(column.name);
  return result;
}

SpeedRecord speed_sample() {
  SpeedRecord record;
  record.case_id = "rms_norm/rows=8/hidden=16/bf16/normal";
  record.op = "rms_norm";
  record.device = "cuda:0";
  record.implementation = implementation::kFused;
  record.pass = pass::kForward;
  record.status = Status::kNoisy;
  record.reason = "a, \"b\"";
  record.limit_used = 0.1;
  record.time_us = 31.2;
  record.samples = 0;  // zero and absent are different things
  record.peak_bytes = int64_t{1} << 40;
  record.seed = std::numeric_limits<uint64_t>::max();
  return record;
}

PrecisionRecord precision_sample() {
  PrecisionRecord record;
  record.case_id = "rms_norm/rows=8/hidden=16/bf16/normal";
  record.op = "rms_norm";
  record.device = "cpu";
  record.implementation = implementation::kFused;
  record.tensor = "grad_x";
  record.verdict = verdict::kWrong;
  record.err_max = kInfinity;
  record.limit_used = -kInfinity;
  record.nonfinite_got = 3;
  return record;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

// A text, a whole and a real number stand where the schema says so: every cell is set to a value
// that only its own type takes.
template <typename Read>
void expect_types_match(std::span<const Column> columns, const Texts& row, Read read) {
  const Texts header = names(columns);
  ASSERT_EQ(row.size(), columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == "schema" || columns[i].name == "status") continue;
    for (const auto& [cell, type] :
         {std::pair{"text", ColumnType::kText}, std::pair{"1.5", ColumnType::kReal},
          std::pair{"7", ColumnType::kInteger}}) {
      Texts changed = row;
      changed[i] = cell;
      const bool fits = columns[i].type == ColumnType::kText || type == columns[i].type ||
                        (type == ColumnType::kInteger && columns[i].type == ColumnType::kReal);
      EXPECT_EQ(error_of([&] { read(header, changed); }) == "no error", fits)
          << columns[i].name << " = " << cell;
      if (fits) {
        EXPECT_EQ(to_row(read(header, changed)), changed) << columns[i].name;
      }
    }
  }
}

TEST(Record, FieldsAreTheColumnsOfTheSchema) {
  expect_types_match(speed_columns(), to_row(speed_sample()), speed_from_row);
  expect_types_match(precision_columns(), to_row(precision_sample()), precision_from_row);
}

TEST(Record, RowsReadBackAsTheyWere) {
  EXPECT_EQ(speed_from_row(names(speed_columns()), to_row(speed_sample())), speed_sample());
  EXPECT_EQ(precision_from_row(names(precision_columns()), to_row(precision_sample())),
            precision_sample());
  EXPECT_EQ(speed_from_row(names(speed_columns()), to_row(SpeedRecord())), SpeedRecord());
}

TEST(Record, ColumnsMayStandInAnyOrder) {
  Texts header = names(speed_columns()), row = to_row(speed_sample());
  std::swap(header[0], header[10]);
  std::swap(row[0], row[10]);
  EXPECT_EQ(speed_from_row(header, row), speed_sample());
}

TEST(Record, ColumnsAreStrict) {
  const Texts header = names(speed_columns()), row = to_row(speed_sample());
  Texts renamed = header;
  renamed[10] = "time_usec";
  EXPECT_EQ(error_of([&] { speed_from_row(renamed, row); }), "column \"time_us\" is missing");
  Texts more = header, more_row = row;
  more.push_back("colour");
  more_row.push_back("red");
  EXPECT_EQ(error_of([&] { speed_from_row(more, more_row); }).substr(0, 24),
            "unknown column \"colour\":");
  Texts bad = row;
  bad[10] = "fast";
  EXPECT_EQ(error_of([&] { speed_from_row(header, bad); }),
            "column \"time_us\": got \"fast\", want a number");
  EXPECT_EQ(error_of([&] { speed_from_row(header, Texts{"a"}); }), "row: got 1 cells, want 41");
}

TEST(Record, NewerVersionIsNamedBeforeItsUnknownColumns) {
  Texts header = names(speed_columns()), row = to_row(speed_sample());
  row.back() = "2";
  header.push_back("colour");
  row.push_back("red");
  EXPECT_EQ(error_of([&] { speed_from_row(header, row); }),
            "column \"schema\": got version 2, this program reads 1 to 1");
}

TEST(Record, JsonReadsBackAsItWas) {
  const json speed = json::parse(json(speed_sample()).dump());
  EXPECT_EQ(speed.get<SpeedRecord>(), speed_sample());
  EXPECT_FALSE(speed.contains("roof_us"));  // absent
  EXPECT_EQ(speed.at("samples"), 0);        // zero
  const json precision = json::parse(json(precision_sample()).dump());
  EXPECT_EQ(precision.get<PrecisionRecord>(), precision_sample());
  EXPECT_EQ(precision.at("err_max"), "inf");
  EXPECT_EQ(precision.at("limit_used"), "-inf");
}

TEST(Record, JsonKeepsNan) {
  PrecisionRecord record = precision_sample();
  record.err_rms = std::nan("");
  const auto back = json::parse(json(record).dump()).get<PrecisionRecord>();
  ASSERT_TRUE(back.err_rms.has_value());
  EXPECT_TRUE(std::isnan(*back.err_rms));
}

TEST(Record, JsonTakesBytesThatAreNoUtf8) {
  SpeedRecord record = speed_sample();
  record.stderr_tail = "bad \xFF byte, good \xC2\xB5s";
  const auto back = json::parse(json(record).dump()).get<SpeedRecord>();
  EXPECT_EQ(back.stderr_tail, "bad ? byte, good \xC2\xB5s");
}

TEST(Record, JsonIsStrict) {
  const auto error = [](const std::function<void(json&)>& change) {
    json value = speed_sample();
    change(value);
    return error_of([&] { value.get<SpeedRecord>(); });
  };
  EXPECT_EQ(error([](json&) {}), "no error");
  EXPECT_TRUE(error([](json& j) {
                j["time_usec"] = 1;
              }).starts_with("unknown key \"time_usec\": did you mean \"time_us\"? Known: case, "));
  EXPECT_EQ(error([](json& j) { j["time_us"] = "fast"; }),
            "key \"time_us\": got \"fast\", want a number");
  EXPECT_EQ(error([](json& j) { j["samples"] = 1.5; }),
            "key \"samples\": got \"1.5\", want a whole number");
  EXPECT_EQ(error([](json& j) { j["schema"] = 2; }),
            "column \"schema\": got version 2, this program reads 1 to 1");
  EXPECT_NE(error([](json& j) { j["op"] = 5; }), "no error");
  EXPECT_NE(error([](json& j) { j["status"] = "fine"; }), "no error");
  EXPECT_EQ(error([](json& j) { j = 5; }), "record: got no JSON object");
}

TEST(Record, KeyTellsRowsApart) {
  const SpeedRecord a = speed_sample();
  for (auto field : {&SpeedRecord::case_id, &SpeedRecord::device, &SpeedRecord::implementation,
                     &SpeedRecord::pass}) {
    SpeedRecord b = a;
    b.*field += "x";
    EXPECT_NE(a.key(), b.key());
    EXPECT_LT(a.key(), b.key());
  }
  SpeedRecord b = a;
  b.time_us = 1;
  EXPECT_EQ(a.key(), b.key());
  EXPECT_EQ(precision_sample().key().part, "grad_x");
}

TEST(Record, ExitCodeIsTheWorstOfTheRows) {
  const auto row = [](Status status, std::string_view implementation) {
    SpeedRecord record = speed_sample();
    record.status = status;
    record.implementation = implementation;
    return record;
  };
  using implementation::kEager, implementation::kFused;
  const auto code = [](std::vector<SpeedRecord> rows) { return exit_code(rows); };
  EXPECT_EQ(code({}), ExitCode::kFine);
  EXPECT_EQ(code({row(Status::kOk, kFused), row(Status::kNoisy, kEager)}), ExitCode::kFine);
  EXPECT_EQ(code({row(Status::kOk, kFused), row(Status::kOom, kEager)}), ExitCode::kFine);
  EXPECT_EQ(code({row(Status::kOom, kFused)}), ExitCode::kNotMeasured);
  EXPECT_EQ(code({row(Status::kOk, kFused), row(Status::kCrash, kEager)}), ExitCode::kNotMeasured);
  EXPECT_EQ(code({row(Status::kWrong, kFused), row(Status::kCrash, kFused)}), ExitCode::kWrong);
}

}  // namespace
}  // namespace tigon::harness
