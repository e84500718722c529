#include "harness/record/results.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tigon::harness {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names(std::span<const Column> columns) {
  std::vector<std::string> result;
  for (const Column& column : columns) result.emplace_back(column.name);
  return result;
}

fs::path prepare(const fs::path& folder, ResultsWriter::Mode mode) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    throw FileError(fmt::format("cannot make folder {}: {}", folder.string(),
                                error ? error.message() : "a file of that name is there"));
  }
  if (mode == ResultsWriter::Mode::kNew &&
      (fs::exists(folder / kSpeedFile) || fs::exists(folder / kPrecisionFile))) {
    throw FileError(fmt::format("folder {} holds the results of another run", folder.string()));
  }
  // What the old run said of its machine is not true of the new rows.
  if (mode == ResultsWriter::Mode::kReplace) fs::remove(folder / kEnvironmentFile, error);
  return folder;
}

CsvWriter::Mode csv_mode(ResultsWriter::Mode mode) {
  return mode == ResultsWriter::Mode::kResume ? CsvWriter::Mode::kAppend : CsvWriter::Mode::kCreate;
}

// The records of a file; of several rows with the same key the last, in the place of the first.
template <typename Record, typename Read>
std::vector<Record> read_records(const fs::path& path, Read read, OnProblem on_problem,
                                 std::vector<std::string>& problems) {
  const CsvTable table = read_csv(path, on_problem);
  const auto report = [&](int line, std::string_view what) {
    problems.push_back(fmt::format("{}:{}: {}", path.filename().string(), line, what));
  };
  for (const CsvProblem& problem : table.problems) report(problem.line, problem.what);

  std::vector<Record> records;
  std::map<RecordKey, std::size_t> places;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    try {
      Record record = read(table.columns, table.rows[i]);
      const auto [place, is_new] = places.try_emplace(record.key(), records.size());
      if (is_new) {
        records.push_back(std::move(record));
      } else {
        records[place->second] = std::move(record);
      }
    } catch (const std::invalid_argument& error) {
      if (on_problem == OnProblem::kThrow) {
        throw FileError(fmt::format("{}:{}: {}", path.string(), table.lines[i], error.what()));
      }
      report(table.lines[i], error.what());
    }
  }
  return records;
}

}  // namespace

fs::path caller_folder() {
  const char* caller = std::getenv("BUILD_WORKING_DIRECTORY");
  return caller != nullptr && *caller != '\0' ? fs::path(caller) : fs::current_path();
}

fs::path from_caller(const fs::path& given) {
  return (caller_folder() / given).lexically_normal();  // an absolute path replaces the folder
}

fs::path default_output_folder() {
  const fs::path base = caller_folder() / "tigon-results" /
                        fmt::format("{:%Y-%m-%dT%H-%M-%S}", fmt::localtime(std::time(nullptr)));
  fs::path folder = base;
  for (int i = 2; fs::exists(folder); ++i) folder = fmt::format("{}-{}", base.string(), i);
  return folder;
}

ResultsWriter::ResultsWriter(const fs::path& folder, Mode mode)
    : folder_(prepare(folder, mode)),
      speed_(folder_ / kSpeedFile, names(speed_columns()), csv_mode(mode)),
      precision_(folder_ / kPrecisionFile, names(precision_columns()), csv_mode(mode)) {}

void ResultsWriter::write(const SpeedRecord& record) { speed_.write(to_row(record)); }

void ResultsWriter::write(const PrecisionRecord& record) { precision_.write(to_row(record)); }

void ResultsWriter::write_environment(const nlohmann::json& environment) {
  const fs::path path = folder_ / kEnvironmentFile;
  fs::path draft = path;
  draft += ".new";
  {
    std::ofstream file(draft);
    file << environment.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    file.flush();
    if (!file) {
      throw FileError(fmt::format("cannot write {}: {}", draft.string(),
                                  std::generic_category().message(errno)));
    }
  }
  std::error_code error;
  fs::rename(draft, path, error);
  if (error) throw FileError(fmt::format("cannot write {}: {}", path.string(), error.message()));
}

Results read_results(const fs::path& folder, OnProblem on_problem) {
  Results results;
  results.speed =
      read_records<SpeedRecord>(folder / kSpeedFile, speed_from_row, on_problem, results.problems);
  if (fs::exists(folder / kPrecisionFile)) {
    results.precision = read_records<PrecisionRecord>(folder / kPrecisionFile, precision_from_row,
                                                      on_problem, results.problems);
  }
  const fs::path environment = folder / kEnvironmentFile;
  if (fs::exists(environment)) {
    try {
      results.environment = nlohmann::json::parse(std::ifstream(environment));
    } catch (const nlohmann::json::exception& error) {
      throw FileError(fmt::format("cannot read {}: {}", environment.string(), error.what()));
    }
  }
  return results;
}

}  // namespace tigon::harness
