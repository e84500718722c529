// Puts the tables of committed records into a Markdown file:
//   bazel run //reports:readme                     README.md of this checkout, from
//   suites/baselines/ bazel run //reports:readme -- --check          changes nothing; status 11
//   when it would
//
// A place for a table is a pair of lines <!-- records: FOLDER --> and <!-- end -->, FOLDER being
// seen from the file's own folder.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "harness/record/exit_code.h"
#include "harness/record/results.h"
#include "reports/markdown_table.h"

namespace {

using tigon::harness::ExitCode;

constexpr std::string_view kBegin = "<!-- records: ";
constexpr std::string_view kBeginEnd = " -->\n";
constexpr std::string_view kEnd = "<!-- end -->";

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{} cannot be read", path.string()));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string with_tables(const std::string& text, const std::filesystem::path& folder) {
  std::string result;
  size_t done = 0;
  for (size_t begin = text.find(kBegin); begin != std::string::npos;
       begin = text.find(kBegin, done)) {
    const size_t name = begin + kBegin.size();
    const size_t name_end = text.find(kBeginEnd, name);
    const size_t end = text.find(kEnd, name);
    if (name_end == std::string::npos || end == std::string::npos || name_end > end) {
      throw std::runtime_error(fmt::format("{} has no {} behind it", text.substr(begin, 60), kEnd));
    }
    const std::string records = text.substr(name, name_end - name);
    result += text.substr(done, name_end + kBeginEnd.size() - done);
    result += tigon::reports::markdown_table(tigon::harness::read_results(folder / records));
    done = end;
  }
  return result + text.substr(done);
}

int run(int argc, char** argv) {
  const bool check = argc > 1 && std::string_view(argv[1]) == "--check";
  const char* checkout = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::filesystem::path path =
      argc > 2 ? argv[2] : std::filesystem::path(checkout ? checkout : ".") / "README.md";
  if (argc > 1 && !check) {
    fmt::print(stderr, "readme: the argument is \"{}\", expected --check or nothing\n", argv[1]);
    return static_cast<int>(ExitCode::kUsage);
  }
  const std::string before = read(path);
  const std::string after = with_tables(before, path.parent_path());
  if (before == after) return static_cast<int>(ExitCode::kFine);
  if (check) {
    fmt::print(stderr, "{} is not what its records give; run bazel run //reports:readme\n",
               path.string());
    return static_cast<int>(ExitCode::kWrong);
  }
  std::ofstream file(path);
  file << after;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{} cannot be written", path.string()));
  fmt::print("{} has new tables\n", path.string());
  return static_cast<int>(ExitCode::kFine);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "readme: {}\n", error.what());
    return static_cast<int>(ExitCode::kUsage);
  }
}
