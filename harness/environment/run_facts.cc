#include "harness/environment/run_facts.h"

#include <cuda_runtime_api.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness/record/schema.h"
#include "harness/sweep/seed.h"

namespace tigon::harness {
namespace {

// First line that a command prints; "" when it fails.
std::string first_line_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return "";
  std::array<char, 256> line{};
  if (std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return "";
  std::string text(line.data());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// How the program was called, not where it lay.
std::vector<std::string> without_folder(std::vector<std::string> command_line) {
  if (!command_line.empty()) {
    command_line[0] = std::filesystem::path(command_line[0]).filename().string();
  }
  return command_line;
}

std::string kernel_name() {
  utsname name{};
  return uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "unknown";
}

}  // namespace

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::string binary_digest() {
  static const std::string digest = [] {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    uint64_t hash = 0;
    std::vector<char> block(1 << 20);
    while (file) {
      file.read(block.data(), static_cast<std::streamsize>(block.size()));
      const std::string_view bytes(block.data(), static_cast<size_t>(file.gcount()));
      hash = mix64(hash ^ stable_hash(bytes));
    }
    return fmt::format("{:016x}", hash);
  }();
  return digest;
}

std::string git_commit() {
  static const std::string commit = []() -> std::string {
    if (const char* given = std::getenv("TIGON_GIT_COMMIT")) return given;
    const char* checkout = std::getenv("BUILD_WORKSPACE_DIRECTORY");
    if (checkout == nullptr) return "";
    return first_line_of("git -C " + quoted(checkout) +
                         " describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null");
  }();
  return commit;
}

nlohmann::json run_facts(const std::vector<std::string>& command_line) {
  return {{"schema", kSchemaVersion},
          {"started_at", utc_now()},
          {"command_line", without_folder(command_line)},
          {"git_commit", git_commit()},
          {"binary_digest", binary_digest()},
          {"compiler", "g++ " __VERSION__},
          {"libtorch", TORCH_VERSION},
          {"cuda_toolkit", fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10)},
          {"system", kernel_name()}};
}

}  // namespace tigon::harness
