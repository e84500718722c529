// A worker that does to itself whatever a request says. For the tests of the supervisor.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/process/memory.h"
#include "harness/process/worker_main.h"

namespace {

using nlohmann::json;
using tigon::harness::DoneReply;
using tigon::harness::WorkerChannel;

int g_out = -1;

[[noreturn]] void sleep_forever() {
  while (true) ::pause();
}

void write_raw(std::string_view bytes) {
  if (::write(g_out, bytes.data(), bytes.size()) < 0) std::perror("write");
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

json describe_self() {
  json fds = json::array();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    // The folder being listed is open, too.
    if (!error && target.string().find("/fd") == std::string::npos) fds.push_back(target.string());
  }
  const char* added = std::getenv("TIGON_TEST_ADDED");
  return {{"oom_score_adj", first_line("/proc/self/oom_score_adj")},
          {"stdin", std::filesystem::read_symlink("/proc/self/fd/0").string()},
          {"leader", ::getpgrp() == ::getpid()},
          {"sigpipe_default", std::signal(SIGPIPE, SIG_DFL) == SIG_DFL},
          {"added", added == nullptr ? "" : added},
          {"fds", fds}};
}

void take_all_memory() {
  constexpr std::int64_t kAllowed = std::int64_t{64} << 20;
  if (!tigon::harness::limit_memory_to_available(kAllowed)) {
    throw std::runtime_error("no memory limit could be set");
  }
  constexpr std::size_t kBlock = std::size_t{8} << 20;
  std::vector<std::unique_ptr<char[]>> blocks;
  while (true) {
    blocks.push_back(std::make_unique<char[]>(kBlock));
    // The limit failed: stop before the machine suffers.
    if (blocks.size() > 100) throw std::runtime_error("800 MiB allocated under a limit of 64");
  }
}

void wait_for_file(const std::string& path) {
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

DoneReply act(const json& request, WorkerChannel& channel) {
  const std::string what = request.at("do");
  channel.stage("inputs");
  channel.row("speed", {{"pid", std::to_string(::getpid())}});
  channel.stage(what);
  if (what == "answer") return {"ok", request.value("say", ""), false};
  if (what == "segfault") *static_cast<volatile int*>(nullptr) = 1;  // NOLINT: meant
  if (what == "abort") {
    std::fputs("about to abort\nfor a reason\n", stderr);
    std::abort();
  }
  if (what == "exit3") std::exit(3);
  if (what == "kill_self") std::raise(SIGKILL);
  if (what == "hang") {
    std::signal(SIGTERM, SIG_IGN);
    sleep_forever();
  }
  if (what == "wait") sleep_forever();
  const std::string noise(1023, 'x');
  if (what == "print_forever") {
    while (true) std::fprintf(stderr, "%s\n", noise.c_str());
  }
  if (what == "print_a_lot") {
    for (int i = 0; i < 8192; ++i) std::fprintf(i % 2 ? stderr : stdout, "%s\n", noise.c_str());
    std::fputs("last words\n", stderr);
  }
  if (what == "stage_forever") {
    while (true) channel.stage("again");
  }
  if (what == "take_all_memory") take_all_memory();
  if (what == "throw") throw std::runtime_error("deliberate\nfailure");
  if (what == "throw_int") throw 1;
  if (what == "fatal") return {"error", "CUDA error: an illegal memory access", true};
  if (what == "garbage") {
    write_raw("this is no JSON\n");
    sleep_forever();
  }
  if (what == "unknown_message") {
    write_raw("{\"surprise\":1}\n");
    sleep_forever();
  }
  if (what == "half_message") {
    write_raw("{\"row\":{\"file\":\"sp");
    ::_exit(0);
  }
  if (what == "close_pipe") {
    ::close(g_out);
    sleep_forever();
  }
  if (what == "leave_a_child") {
    const pid_t child = ::fork();
    if (child == 0) sleep_forever();
    channel.row("speed", {{"child", std::to_string(child)}});
    std::abort();
  }
  if (what == "big_row") channel.row("precision", {{"text", std::string(4 << 20, 'y')}});
  if (what == "describe") channel.row("speed", describe_self());
  if (what == "meet") {
    std::ofstream(request.at("mine").get<std::string>()) << "here";
    wait_for_file(request.at("other"));
  }
  return {};
}

// Adds one line to the file; how many there are now.
int count_start(const std::string& path) {
  std::ofstream(path, std::ios::app) << "start\n";
  std::ifstream file(path);
  int starts = 0;
  for (std::string line; std::getline(file, line);) ++starts;
  return starts;
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::optional<tigon::harness::WorkerFds> fds;
  std::string mode, starts_file;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto value = argument.substr(std::min(argument.find('=') + 1, argument.size()));
    if (argument.rfind("--worker-fds=", 0) == 0) fds = tigon::harness::parse_worker_fds(value);
    if (argument.rfind("--mode=", 0) == 0) mode = value;
    if (argument.rfind("--starts-file=", 0) == 0) starts_file = value;
  }
  if (!fds) return 64;
  g_out = fds->out;
  if (mode == "die_before_hello") {
    std::fputs("cannot open the device\n", stderr);
    return 7;
  }
  // The first two starts fail, then it is well.
  if (mode == "third_start" && count_start(starts_file) < 3) std::abort();
  if (mode == "silent") sleep_forever();
  if (mode == "rude") {
    write_raw("hello there\n");
    sleep_forever();
  }
  // Takes the first message away and dies: once (the second start is well) or always.
  const bool first_start = !starts_file.empty() && count_start(starts_file) == 1;
  if (mode == "drop_always" || (mode == "drop_once" && first_start)) {
    write_raw("{\"hello\":{}}\n");
    char byte;
    if (::read(fds->in, &byte, 1) == 1) std::abort();
  }
  const int code = tigon::harness::worker_loop(fds->in, fds->out, {{"pid", ::getpid()}}, act);
  return mode == "bad_ending" ? 9 : code;
}
