#include "harness/record/schema.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

namespace tigon::harness {
namespace {

class SchemaTest : public testing::TestWithParam<std::span<const Column>> {};

TEST_P(SchemaTest, NamesAreUniqueAndPlain) {
  std::set<std::string_view> names;
  for (const Column& column : GetParam()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_TRUE(std::regex_match(std::string(column.name), std::regex("[a-z][a-z0-9_]*")))
        << column.name;
    EXPECT_EQ(find_column(GetParam(), column.name), &column);
  }
  EXPECT_EQ(find_column(GetParam(), "no_such_column"), nullptr);
}

TEST_P(SchemaTest, EveryColumnIsExplained) {
  for (const Column& column : GetParam()) EXPECT_FALSE(column.help.empty()) << column.name;
}

TEST_P(SchemaTest, AUnitIsInTheNameAndOnNumbersOnly) {
  for (const Column& column : GetParam()) {
    if (!column.unit.empty()) {
      EXPECT_NE(column.type, ColumnType::kText) << column.name;
    }
    EXPECT_EQ(column.name.ends_with("_us"), column.unit == "us") << column.name;
    if (column.unit == "B") {
      EXPECT_NE(column.name.find("bytes"), std::string_view::npos);
    }
  }
}

TEST_P(SchemaTest, AGateNeedsADirection) {
  for (const Column& column : GetParam()) {
    if (column.gateable) {
      EXPECT_NE(column.better, Better::kNone) << column.name;
    }
  }
}

TEST_P(SchemaTest, KeyComesFirstAndVersionLast) {
  const auto columns = GetParam();
  EXPECT_EQ(columns[0].name, "case");
  EXPECT_EQ(columns[2].name, "device");
  EXPECT_EQ(columns[3].name, "implementation");
  EXPECT_EQ(columns.back().name, "schema");
}

INSTANTIATE_TEST_SUITE_P(Files, SchemaTest, testing::Values(speed_columns(), precision_columns()),
                         [](const auto& info) { return info.index == 0 ? "Speed" : "Precision"; });

TEST(Schema, TimesAndMemoryAreGateable) {
  for (std::string_view name : {"time_us", "speedup_vs_eager", "peak_bytes", "saved_bytes"}) {
    const Column* column = find_column(speed_columns(), name);
    ASSERT_NE(column, nullptr) << name;
    EXPECT_TRUE(column->gateable) << name;
  }
  EXPECT_EQ(find_column(speed_columns(), "speedup_vs_eager")->better, Better::kHigher);
  EXPECT_EQ(find_column(speed_columns(), "time_us")->better, Better::kLower);
}

}  // namespace
}  // namespace tigon::harness
