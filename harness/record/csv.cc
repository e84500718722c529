#include "harness/record/csv.h"

// The reader's thread would be one more per file, to overlap reading with parsing files this small.
#define CSV_IO_NO_THREAD
#include <csv.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tigon::harness {
namespace {

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int error) {
  throw FileError(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(error)));
}

void write_all(int file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Where the last whole line ends: 0 when there is none.
off_t end_of_whole_lines(int file, const std::filesystem::path& path) {
  off_t end = ::lseek(file, 0, SEEK_END);
  char block[4096];
  while (end > 0) {
    const off_t start = std::max<off_t>(0, end - static_cast<off_t>(sizeof block));
    const ssize_t count = ::pread(file, block, static_cast<std::size_t>(end - start), start);
    if (count < 0) fail("read", path, errno);
    const std::string_view text(block, static_cast<std::size_t>(count));
    const std::size_t last = text.rfind('\n');
    if (last != std::string_view::npos) return start + static_cast<off_t>(last) + 1;
    end = start;
  }
  return 0;
}

bool ends_in_line_break(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("open", path, errno);
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = 0;
  const ssize_t count = size > 0 ? ::pread(file, &last, 1, size - 1) : 0;
  ::close(file);
  return count == 1 && last == '\n';
}

std::string without_line_breaks(std::string_view cell) {
  std::string result(cell);
  // A NUL too: the reader takes it for the end of the line.
  for (char& letter : result) {
    if (letter == '\n' || letter == '\r' || letter == '\0') letter = ' ';
  }
  return result;
}

}  // namespace

std::string join_csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    const std::string cell = without_line_breaks(cells[i]);
    if (cell.find_first_of(",\"") == std::string::npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (char letter : cell) {
      if (letter == '"') line += '"';
      line += letter;
    }
    line += '"';
  }
  return line;
}

std::vector<std::string> split_csv_line(std::string_view line) {
  std::vector<std::string> cells;
  std::size_t at = 0;
  while (true) {
    std::string cell;
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        if (at >= line.size()) throw std::invalid_argument("a quote is not closed");
        if (line[at] != '"') {
          cell += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          cell += line[++at];
        } else {
          ++at;
          break;
        }
      }
      if (at < line.size() && line[at] != ',') {
        throw std::invalid_argument("text follows a closing quote");
      }
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      cell = line.substr(at, end - at);
      if (cell.find('"') != std::string::npos) {
        throw std::invalid_argument("a quote stands inside a cell that has none around it");
      }
      at = end;
    }
    cells.push_back(std::move(cell));
    if (at >= line.size()) return cells;
    ++at;  // the comma; a line that ends in one has an empty last cell
  }
}

CsvWriter::CsvWriter(std::filesystem::path path, std::vector<std::string> columns, Mode mode)
    : path_(std::move(path)), column_count_(columns.size()) {
  const bool goes_on = mode == Mode::kAppend && std::filesystem::exists(path_);
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (goes_on ? 0 : O_TRUNC), 0666);
  if (file_ < 0) fail("open", path_, errno);
  try {
    const off_t end = goes_on ? end_of_whole_lines(file_, path_) : 0;
    if (end > 0) {
      const CsvTable table = read_csv(path_, OnProblem::kSkip);
      if (table.columns != columns) {
        throw FileError(fmt::format("cannot go on writing {}: its columns are {}, want {}",
                                    path_.string(), fmt::join(table.columns, ","),
                                    fmt::join(columns, ",")));
      }
    }
    if (goes_on && (::ftruncate(file_, end) != 0 || ::lseek(file_, end, SEEK_SET) < 0)) {
      fail("write", path_, errno);
    }
    if (end == 0) write_line(columns);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

CsvWriter::~CsvWriter() {
  if (file_ >= 0) ::close(file_);
}

CsvWriter::CsvWriter(CsvWriter&& other) noexcept
    : path_(std::move(other.path_)),
      column_count_(other.column_count_),
      file_(std::exchange(other.file_, -1)) {}

CsvWriter& CsvWriter::operator=(CsvWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(column_count_, other.column_count_);
  std::swap(file_, other.file_);
  return *this;
}

void CsvWriter::write(const std::vector<std::string>& cells) {
  if (cells.size() != column_count_) {
    throw std::invalid_argument(
        fmt::format("cells: got {}, want {}, one for each column", cells.size(), column_count_));
  }
  write_line(cells);
}

void CsvWriter::write_line(const std::vector<std::string>& cells) {
  write_all(file_, join_csv_line(cells) + '\n', path_);
}

CsvTable read_csv(const std::filesystem::path& path, OnProblem on_problem) {
  CsvTable table;
  const bool last_line_is_whole = ends_in_line_break(path);  // first: it reports a missing file
  std::vector<std::pair<int, std::string>> lines;
  try {
    io::LineReader reader(path.string());
    while (const char* line = reader.next_line()) {
      lines.emplace_back(static_cast<int>(reader.get_file_line()), line);
    }
  } catch (const io::error::base& error) {
    throw FileError(fmt::format("cannot read {}: {}", path.string(), error.what()));
  }

  const auto report = [&](int line, std::string what) {
    if (on_problem == OnProblem::kThrow) {
      throw FileError(fmt::format("{}:{}: {}", path.string(), line, what));
    }
    table.problems.push_back({line, std::move(what)});
  };

  if (lines.empty() || (lines.size() == 1 && !last_line_is_whole)) {
    throw FileError(fmt::format("cannot read {}: it has no header line", path.string()));
  }
  for (const auto& [number, line] : lines) {
    const bool is_header = number == lines.front().first;
    if (number == lines.back().first && !last_line_is_whole) {
      report(number, "the line is not whole: no line break at its end");
      continue;
    }
    try {
      std::vector<std::string> cells = split_csv_line(line);
      if (is_header) {
        table.columns = std::move(cells);
      } else if (cells.size() != table.columns.size()) {
        report(number, fmt::format("got {} cells, want {}", cells.size(), table.columns.size()));
      } else {
        table.rows.push_back(std::move(cells));
        table.lines.push_back(number);
      }
    } catch (const std::invalid_argument& error) {
      if (is_header) {
        throw FileError(fmt::format("{}:{}: {}", path.string(), number, error.what()));
      }
      report(number, error.what());
    }
  }
  return table;
}

}  // namespace tigon::harness
