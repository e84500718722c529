// The columns of the record files, as data: writer, reader, gate and reports all go by these.
#pragma once

#include <span>
#include <string_view>

namespace tigon::harness {

// Raised whenever a column is added, removed or changes its meaning. A reader knows every version
// up to this one.
inline constexpr int kSchemaVersion = 1;

enum class ColumnType { kText, kInteger, kReal };
enum class Better { kNone, kLower, kHigher };

struct Column {
  std::string_view name;
  ColumnType type = ColumnType::kText;
  std::string_view unit;  // empty: none. "1": a plain ratio or share, not a percentage
  Better better = Better::kNone;
  bool gateable = false;  // may a gate judge changes of it?
  std::string_view help;
};

// speed.csv: a row per case, implementation, pass and device.
std::span<const Column> speed_columns();

// precision.csv: a row per case, implementation, tensor and device.
std::span<const Column> precision_columns();

// Null when there is no column of that name.
const Column* find_column(std::span<const Column> columns, std::string_view name);

}  // namespace tigon::harness
