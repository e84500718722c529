#include "harness/process/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tigon::harness {
namespace {

namespace fs = std::filesystem;

constexpr double kUsableShare = 0.9;  // the rest is for the parent, other processes, fragmentation

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<std::int64_t> read_number(const fs::path& path) {
  const auto text = read_file(path);
  if (!text) return {};
  std::int64_t number = 0;
  // "max" (no limit) is no number.
  if (std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) {
    return {};
  }
  return number;
}

// The number after `key` at the start of a line ("oom_kill 3", "MemAvailable:   123 kB").
std::optional<std::int64_t> read_field(const fs::path& path, std::string_view key) {
  const auto text = read_file(path);
  if (!text) return {};
  std::istringstream lines(*text);
  std::string name;
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    if (words >> name >> number && name == key) return number;
  }
  return {};
}

struct MemoryCgroup {
  fs::path folder;
  bool unified;  // version 2
};

// The memory cgroups that hold this process, innermost first. Without a cgroup namespace a
// container sees the host's path, which does not exist below its own mount: such folders are
// skipped, and the mount's root is the container's own cgroup.
std::vector<MemoryCgroup> memory_cgroups(const fs::path& root) {
  std::vector<MemoryCgroup> found;
  const auto text = read_file(root / "proc/self/cgroup");
  if (!text) return found;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",memory,") == std::string::npos) continue;
    const fs::path mount = root / (unified ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    const char* usage = unified ? "memory.current" : "memory.usage_in_bytes";
    fs::path inner = fs::path(line.substr(second + 1)).relative_path();
    while (true) {
      const fs::path folder = inner.empty() ? mount : mount / inner;
      std::error_code error;
      if (fs::exists(folder / usage, error)) found.push_back({folder, unified});
      if (inner.empty()) break;
      inner = inner.parent_path();
    }
  }
  return found;
}

std::optional<std::int64_t> left_in(const MemoryCgroup& group) {
  const auto limit =
      read_number(group.folder / (group.unified ? "memory.max" : "memory.limit_in_bytes"));
  const auto usage =
      read_number(group.folder / (group.unified ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !usage) return {};
  const auto reclaimable = read_field(group.folder / "memory.stat",
                                      group.unified ? "inactive_file" : "total_inactive_file");
  return std::max<std::int64_t>(0, *limit - *usage + reclaimable.value_or(0));
}

}  // namespace

std::optional<std::int64_t> available_memory_bytes(const MemorySources& sources) {
  const auto kib = read_field(sources.root / "proc/meminfo", "MemAvailable:");
  if (!kib) return {};
  std::int64_t available = *kib * 1024;
  for (const MemoryCgroup& group : memory_cgroups(sources.root)) {
    if (const auto left = left_in(group)) available = std::min(available, *left);
  }
  return available;
}

std::optional<std::int64_t> limit_memory_to_available(std::optional<std::int64_t> available_bytes) {
  if (!available_bytes) available_bytes = available_memory_bytes();
  // RLIMIT_DATA is held against VmData: private writable mappings, touched or not.
  const auto data_kib = read_field("/proc/self/status", "VmData:");
  rlimit limit = {};
  if (!available_bytes || !data_kib || ::getrlimit(RLIMIT_DATA, &limit) != 0) return {};
  const auto wanted = *data_kib * 1024 + static_cast<std::int64_t>(
                                             kUsableShare * static_cast<double>(*available_bytes));
  // RLIM_INFINITY is the largest rlim_t: the smaller one is always right.
  limit.rlim_cur = std::min(limit.rlim_cur, static_cast<rlim_t>(wanted));
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) return {};
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::int64_t oom_kill_count(const MemorySources& sources) {
  for (const MemoryCgroup& group : memory_cgroups(sources.root)) {
    const char* file = group.unified ? "memory.events" : "memory.oom_control";
    if (const auto count = read_field(group.folder / file, "oom_kill")) return *count;
  }
  return read_field(sources.root / "proc/vmstat", "oom_kill").value_or(-1);
}

}  // namespace tigon::harness
