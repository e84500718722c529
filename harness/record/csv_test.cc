#include "harness/record/csv.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <random>
#include <sstream>

namespace tigon::harness {
namespace {

using Cells = std::vector<std::string>;
namespace fs = std::filesystem;

class CsvTest : public testing::Test {
 protected:
  CsvTest() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = fs::path(testing::TempDir()) / ("csv_test_" + name + ".csv");
    fs::remove(path_);
  }
  ~CsvTest() override { fs::remove(path_); }

  void put(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string text() const {
    std::stringstream result;
    result << std::ifstream(path_, std::ios::binary).rdbuf();
    return result.str();
  }

  fs::path path_;
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(CsvLine, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(join_csv_line({"a", "", "b c", "1.5"}), "a,,b c,1.5");
  EXPECT_EQ(join_csv_line({"a,b", "say \"hi\"", "\""}), R"("a,b","say ""hi""","""")");
  EXPECT_EQ(join_csv_line({"one\ntwo\r\nthree"}), "one two  three");
}

TEST(CsvLine, AnyCellsReadBackAsTheyWere) {
  std::mt19937 engine(5);
  const std::string letters = "ab,\"  \xC2\xB5";
  for (int trial = 0; trial < 5000; ++trial) {
    Cells cells(1 + engine() % 4);
    for (std::string& cell : cells) {
      for (std::size_t i = engine() % 5; i > 0; --i) cell += letters[engine() % letters.size()];
    }
    EXPECT_EQ(split_csv_line(join_csv_line(cells)), cells) << join_csv_line(cells);
  }
}

TEST(CsvLine, RefusesStrayQuotes) {
  EXPECT_EQ(error_of([] { split_csv_line("a,\"b"); }), "a quote is not closed");
  EXPECT_EQ(error_of([] { split_csv_line("\"a\"b,c"); }), "text follows a closing quote");
  EXPECT_EQ(error_of([] { split_csv_line("a\"b,c"); }),
            "a quote stands inside a cell that has none around it");
}

TEST_F(CsvTest, EachRowIsOnDiskOnceWritten) {
  CsvWriter writer(path_, {"name", "value"});
  EXPECT_EQ(text(), "name,value\n");
  writer.write({"a", "1"});
  EXPECT_EQ(text(), "name,value\na,1\n");
  writer.write({"b,c", ""});
  EXPECT_EQ(text(), "name,value\na,1\n\"b,c\",\n");

  const CsvTable table = read_csv(path_);
  EXPECT_EQ(table.columns, (Cells{"name", "value"}));
  EXPECT_EQ(table.rows, (std::vector<Cells>{{"a", "1"}, {"b,c", ""}}));
  EXPECT_EQ(table.lines, (std::vector<int>{2, 3}));
  EXPECT_TRUE(table.problems.empty());
}

TEST_F(CsvTest, CreateReplacesAndAppendGoesOn) {
  { CsvWriter(path_, {"name"}).write({"old"}); }
  { CsvWriter(path_, {"name"}).write({"new"}); }
  EXPECT_EQ(text(), "name\nnew\n");
  { CsvWriter(path_, {"name"}, CsvWriter::Mode::kAppend).write({"more"}); }
  EXPECT_EQ(text(), "name\nnew\nmore\n");
}

TEST_F(CsvTest, AppendToNothingWritesTheHeader) {
  { CsvWriter(path_, {"name"}, CsvWriter::Mode::kAppend).write({"a"}); }
  EXPECT_EQ(text(), "name\na\n");
  put("na");  // killed in the middle of the header
  { CsvWriter(path_, {"name"}, CsvWriter::Mode::kAppend).write({"b"}); }
  EXPECT_EQ(text(), "name\nb\n");
}

TEST_F(CsvTest, AppendDropsALineThatIsNotWhole) {
  put("name,value\na,1\nb,2" + std::string(10000, '2'));
  { CsvWriter(path_, {"name", "value"}, CsvWriter::Mode::kAppend).write({"c", "3"}); }
  EXPECT_EQ(text(), "name,value\na,1\nc,3\n");
}

TEST_F(CsvTest, AppendRefusesOtherColumns) {
  put("name,value\na,1\n");
  EXPECT_EQ(error_of([&] { CsvWriter(path_, {"name"}, CsvWriter::Mode::kAppend); }),
            "cannot go on writing " + path_.string() + ": its columns are name,value, want name");
  EXPECT_EQ(text(), "name,value\na,1\n");
}

TEST_F(CsvTest, MovedWriterGoesOn) {
  CsvWriter first(path_, {"name"});
  CsvWriter second = std::move(first);
  second.write({"a"});
  EXPECT_EQ(text(), "name\na\n");
}

TEST_F(CsvTest, WrongNumberOfCellsIsAnError) {
  CsvWriter writer(path_, {"name", "value"});
  EXPECT_EQ(error_of([&] { writer.write({"a"}); }), "cells: got 1, want 2, one for each column");
  EXPECT_EQ(text(), "name,value\n");
}

TEST(CsvFailure, FullDiskNamesPathAndReason) {
  ASSERT_TRUE(fs::exists("/dev/full"));  // every write to it fails with ENOSPC
  EXPECT_EQ(error_of([] { CsvWriter("/dev/full", {"name"}); }),
            "cannot write /dev/full: No space left on device");
}

TEST(CsvFailure, FolderThatIsNotThereNamesPathAndReason) {
  EXPECT_EQ(error_of([] { CsvWriter("/no/such/folder/x.csv", {"name"}); }),
            "cannot open /no/such/folder/x.csv: No such file or directory");
  EXPECT_EQ(error_of([] { read_csv("/no/such/folder/x.csv"); }),
            "cannot open /no/such/folder/x.csv: No such file or directory");
}

TEST_F(CsvTest, MalformedLinesAreReportedWithTheirNumber) {
  put("name,value\na,1\nb\n\"c,3\nd,4\ne,5");
  EXPECT_EQ(error_of([&] { read_csv(path_); }), path_.string() + ":3: got 1 cells, want 2");
  const CsvTable table = read_csv(path_, OnProblem::kSkip);
  EXPECT_EQ(table.rows, (std::vector<Cells>{{"a", "1"}, {"d", "4"}}));
  EXPECT_EQ(table.lines, (std::vector<int>{2, 5}));
  ASSERT_EQ(table.problems.size(), 3u);
  EXPECT_EQ(table.problems[0].line, 3);
  EXPECT_EQ(table.problems[1].line, 4);
  EXPECT_EQ(table.problems[1].what, "a quote is not closed");
  EXPECT_EQ(table.problems[2].line, 6);
}

// The cells are all there, yet the last may be cut: 1 of what was to be 1234.
TEST_F(CsvTest, LastLineWithoutLineBreakIsNotTrusted) {
  put("name,value\na,1");
  EXPECT_EQ(error_of([&] { read_csv(path_); }),
            path_.string() + ":2: the line is not whole: no line break at its end");
  EXPECT_TRUE(read_csv(path_, OnProblem::kSkip).rows.empty());
}

TEST_F(CsvTest, FileWithoutAHeaderIsAnErrorEitherWay) {
  for (const char* content : {"", "name,value", "\"name\n"}) {
    put(content);
    EXPECT_NE(error_of([&] { read_csv(path_); }), "no error") << content;
    EXPECT_NE(error_of([&] { read_csv(path_, OnProblem::kSkip); }), "no error") << content;
  }
}

TEST_F(CsvTest, WindowsLineBreaksAndMarkAreRead) {
  put("\xEF\xBB\xBFname,value\r\na,1\r\n");
  const CsvTable table = read_csv(path_);
  EXPECT_EQ(table.columns, (Cells{"name", "value"}));
  EXPECT_EQ(table.rows, (std::vector<Cells>{{"a", "1"}}));
}

}  // namespace
}  // namespace tigon::harness
