#include "harness/process/memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <new>
#include <string>

namespace tigon::harness {
namespace {

namespace fs = std::filesystem;

class FakeRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tigon_memory_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    sources_.root = pattern;
    write("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:    4000 kB\n");
  }
  void TearDown() override { fs::remove_all(sources_.root); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((sources_.root / path).parent_path());
    std::ofstream(sources_.root / path) << text;
  }
  void write_v2(const std::string& folder, const std::string& max, const std::string& current,
                const std::string& stat, const std::string& events) {
    write(folder + "/memory.max", max);
    write(folder + "/memory.current", current);
    write(folder + "/memory.stat", stat);
    write(folder + "/memory.events", events);
  }

  MemorySources sources_;
};

constexpr std::int64_t kMachine = std::int64_t{4000} * 1024;

TEST_F(FakeRoot, WithoutCgroupsTheMachineCounts) {
  write("proc/vmstat", "pgfault 12\noom_kill 7\noom_kill_other 9\n");
  EXPECT_EQ(available_memory_bytes(sources_), kMachine);
  EXPECT_EQ(oom_kill_count(sources_), 7);
}

TEST_F(FakeRoot, NothingReadable) {
  fs::remove_all(sources_.root / "proc");
  EXPECT_EQ(available_memory_bytes(sources_), std::nullopt);
  EXPECT_EQ(oom_kill_count(sources_), -1);
}

TEST_F(FakeRoot, TheTightestCgroupAboveCounts) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("proc/vmstat", "oom_kill 7\n");
  write_v2("sys/fs/cgroup/outer", "1000000", "400000", "anon 1\ninactive_file 50000\n",
           "oom 1\noom_kill 5\n");
  write_v2("sys/fs/cgroup/outer/inner", "max", "300000", "", "oom_kill 2\n");
  EXPECT_EQ(available_memory_bytes(sources_), 1000000 - 400000 + 50000);
  EXPECT_EQ(oom_kill_count(sources_), 2);

  write_v2("sys/fs/cgroup/outer/inner", "310000", "300000", "", "oom_kill 3\n");
  EXPECT_EQ(available_memory_bytes(sources_), 10000);
  write_v2("sys/fs/cgroup/outer/inner", "310000", "320000", "", "oom_kill 3\n");
  EXPECT_EQ(available_memory_bytes(sources_), 0);
}

TEST_F(FakeRoot, AContainersPathIsTheHosts) {
  write("proc/self/cgroup", "0::/system.slice/docker-0123.scope\n");
  write_v2("sys/fs/cgroup", "900000", "100000", "inactive_file 0\n", "oom_kill 4\n");
  EXPECT_EQ(available_memory_bytes(sources_), 800000);
  EXPECT_EQ(oom_kill_count(sources_), 4);
}

TEST_F(FakeRoot, VersionOne) {
  write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "600000");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "200000");
  write("sys/fs/cgroup/memory/job/memory.stat", "cache 5\ntotal_inactive_file 1000\n");
  write("sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\noom_kill 6\n");
  // No limit looks like this.
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "200000");
  EXPECT_EQ(available_memory_bytes(sources_), 401000);
  EXPECT_EQ(oom_kill_count(sources_), 6);
}

TEST(Memory, ThisMachineIsReadable) {
  const auto available = available_memory_bytes();
  ASSERT_TRUE(available);
  EXPECT_GT(*available, std::int64_t{1} << 20);
  EXPECT_GE(oom_kill_count(), 0);
}

// Called as a function: the compiler may leave out a new-expression whose result is not used.
bool can_allocate(std::size_t bytes) {
  try {
    ::operator delete(::operator new(bytes));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

int check_limit() {
  constexpr std::int64_t kMiB = 1 << 20;
  if (!limit_memory_to_available(100 * kMiB)) return 1;
  void* const held = ::operator new(80 * kMiB);
  if (can_allocate(40 * kMiB)) return 2;
  // A second, wider limit does not undo the first.
  if (!limit_memory_to_available(1000 * kMiB)) return 3;
  if (can_allocate(40 * kMiB)) return 4;
  ::operator delete(held);
  return can_allocate(40 * kMiB) ? 0 : 5;
}

TEST(Memory, TheLimitTurnsExcessIntoBadAlloc) {
  // In a child: a limit can't be taken back.
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check_limit());
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tigon::harness
