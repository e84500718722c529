// A folder of results: speed.csv, precision.csv, environment.json.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/csv.h"
#include "harness/record/record.h"

namespace tigon::harness {

inline constexpr std::string_view kSpeedFile = "speed.csv";
inline constexpr std::string_view kPrecisionFile = "precision.csv";
inline constexpr std::string_view kEnvironmentFile = "environment.json";

// The folder that the user stands in: under `bazel run` the program starts elsewhere, and Bazel
// names it in BUILD_WORKING_DIRECTORY.
std::filesystem::path caller_folder();

// `given`, seen from the caller's folder.
std::filesystem::path from_caller(const std::filesystem::path& given);

// Where a run without --out writes: tigon-results/2024-05-31T14-02-59 below the caller's folder,
// with -2, -3, ... added while such a folder exists.
std::filesystem::path default_output_folder();

// The files of a run that is being written.
class ResultsWriter {
 public:
  enum class Mode {
    kNew,      // refuses a folder that holds results
    kReplace,  // writes over the results that are there
    kResume,   // adds to them
  };

  // Makes the folder (and those above it). Throws FileError naming path and reason.
  explicit ResultsWriter(const std::filesystem::path& folder, Mode mode = Mode::kNew);

  void write(const SpeedRecord& record);
  void write(const PrecisionRecord& record);
  // Replaces the file as a whole: a reader sees the old one or the new one, never a part.
  void write_environment(const nlohmann::json& environment);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  CsvWriter speed_;
  CsvWriter precision_;
};

struct Results {
  std::vector<SpeedRecord> speed;
  std::vector<PrecisionRecord> precision;
  nlohmann::json environment;         // null when there is no such file
  std::vector<std::string> problems;  // "speed.csv:17: ..." for each line that was skipped
};

// Reads what a folder holds. A later row replaces an earlier one of the same key (a resumed run
// tries failed rows again). Lines that cannot be read are handled as `on_problem` says. Throws
// FileError when speed.csv is missing or of a newer schema.
Results read_results(const std::filesystem::path& folder, OnProblem on_problem = OnProblem::kThrow);

}  // namespace tigon::harness
