// CSV files as text cells. Numbers are the caller's, through std::to_chars and std::from_chars: the
// CSV library's own conversions read neither nan nor inf, take an empty cell for 0 and mis-round.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tigon::harness {

// A file that cannot be opened, written or read; what() names the path and the system's reason.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes row by row. Each row reaches the system in one write, so that a killed run loses at most
// the row that it was writing.
class CsvWriter {
 public:
  enum class Mode {
    kCreate,  // a new file; replaces one that exists
    kAppend,  // goes on after the last whole row; the file's columns must be these
  };

  // Throws FileError when the file cannot be opened, or, appending, has other columns.
  CsvWriter(std::filesystem::path path, std::vector<std::string> columns,
            Mode mode = Mode::kCreate);
  ~CsvWriter();
  CsvWriter(CsvWriter&& other) noexcept;
  CsvWriter& operator=(CsvWriter&& other) noexcept;

  // Line breaks inside a cell become spaces. Throws std::invalid_argument when the number of cells
  // is not that of the columns, FileError when the write fails (disk full, read-only).
  void write(const std::vector<std::string>& cells);

  const std::filesystem::path& path() const { return path_; }

 private:
  void write_line(const std::vector<std::string>& cells);

  std::filesystem::path path_;
  std::size_t column_count_ = 0;
  int file_ = -1;
};

struct CsvProblem {
  int line = 0;  // from 1, the header being line 1
  std::string what;
};

struct CsvTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<int> lines;            // the line of each row
  std::vector<CsvProblem> problems;  // lines that were skipped
};

enum class OnProblem { kThrow, kSkip };

// Throws FileError for a file that cannot be read or has no header, and, with kThrow, for the first
// line that is malformed: wrong number of cells, a stray quote, or no line break at its end (a row
// that was being written when the run was killed). With kSkip such lines are left out and reported.
CsvTable read_csv(const std::filesystem::path& path, OnProblem on_problem = OnProblem::kThrow);

// The cells of one line. Throws std::invalid_argument for a stray or unclosed quote.
std::vector<std::string> split_csv_line(std::string_view line);

// One line without its line break; cells that need quotes get them.
std::string join_csv_line(const std::vector<std::string>& cells);

}  // namespace tigon::harness
