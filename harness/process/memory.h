// How much memory a process may still take, a limit that keeps it there, and the kernel's OOM
// kills.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tigon::harness {

// Reads below `root`; tests point it at a folder of their own.
struct MemorySources {
  std::filesystem::path root = "/";
};

// Bytes that can be allocated without pushing anything out: the least of the machine's MemAvailable
// and what each memory cgroup (version 1 or 2) around this process leaves, its reclaimable file
// cache counted as free. Null when /proc/meminfo can't be read.
std::optional<std::int64_t> available_memory_bytes(const MemorySources& sources = {});

// Sets RLIMIT_DATA to what the process has now plus 90 % of `available_bytes` (default:
// available_memory_bytes()), so that an allocation that can't fit fails with std::bad_alloc instead
// of waking the kernel's OOM killer. Never raises a limit. Returns the limit in bytes, or null
// when none was set. Not for CUDA workers: the driver reserves address space by the terabyte.
std::optional<std::int64_t> limit_memory_to_available(
    std::optional<std::int64_t> available_bytes = std::nullopt);

// OOM kills so far that could have hit a child of this process: its memory cgroup's count where
// there is one, else the machine's; -1 when neither is readable.
std::int64_t oom_kill_count(const MemorySources& sources = {});

}  // namespace tigon::harness
