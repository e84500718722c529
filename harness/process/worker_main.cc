#include "harness/process/worker_main.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "harness/process/pipe_io.h"

namespace tigon::harness {
namespace {

std::optional<int> parse_fd(std::string_view text) {
  int fd = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  if (error != std::errc() || end != text.data() + text.size() || fd <= STDERR_FILENO) return {};
  return fd;
}

// Programs that a case starts must not keep the pipes open after this process has died.
void set_close_on_exec(int fd) { ::fcntl(fd, F_SETFD, FD_CLOEXEC); }

DoneReply call_handler(const WorkerHandler& handler, const nlohmann::json& request,
                       WorkerChannel& channel) {
  try {
    return handler(request, channel);
  } catch (const std::bad_alloc&) {
    return {"oom", "out of memory (std::bad_alloc)", false};
  } catch (const std::exception& error) {
    return {"error", error.what(), false};
  } catch (...) {
    return {"error", "exception of an unknown type", false};
  }
}

int complain(const std::string& what) {
  std::fputs(fmt::format("worker: {}\n", what).c_str(), stderr);
  return 1;
}

}  // namespace

std::optional<WorkerFds> parse_worker_fds(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return {};
  const auto in = parse_fd(text.substr(0, comma));
  const auto out = parse_fd(text.substr(comma + 1));
  if (!in || !out || *in == *out) return {};
  return WorkerFds{*in, *out};
}

void WorkerChannel::stage(std::string_view name) { send({{"stage", name}}); }

void WorkerChannel::row(std::string_view file, const nlohmann::json& record) {
  send({{"row", {{"file", file}, {"record", record}}}});
}

void WorkerChannel::send(const nlohmann::json& message) {
  const std::string line = encode_message(message);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!write_all(out_fd_, line)) {
    throw std::runtime_error("cannot report to the parent: " +
                             std::error_code(errno, std::generic_category()).message());
  }
}

int worker_loop(int in_fd, int out_fd, const nlohmann::json& hello, const WorkerHandler& handler) {
  set_close_on_exec(in_fd);
  set_close_on_exec(out_fd);
  WorkerChannel channel(out_fd);
  MessageDecoder decoder;
  try {
    channel.send({{"hello", hello}});
    while (true) {
      nlohmann::json message;
      std::string excerpt;
      switch (decoder.next(&message, &excerpt)) {
        case MessageDecoder::Result::kGarbage:
          return complain(fmt::format("got what is no message: '{}'", excerpt));
        case MessageDecoder::Result::kNone: {
          char buffer[16384];
          const ssize_t got = ::read(in_fd, buffer, sizeof(buffer));
          if (got == 0) return 0;
          if (got > 0) {
            decoder.feed(std::string_view(buffer, static_cast<std::size_t>(got)));
          } else if (errno != EINTR) {
            return complain("cannot read requests: " +
                            std::error_code(errno, std::generic_category()).message());
          }
          continue;
        }
        case MessageDecoder::Result::kMessage:
          break;
      }
      if (message.contains("quit")) return 0;
      const auto request = message.find("run");
      if (request == message.end()) {
        return complain(
            fmt::format("got an unknown message, wants run or quit: {}",
                        message.begin() == message.end() ? "{}" : message.begin().key()));
      }
      channel.send({{"started", true}});
      const DoneReply reply = call_handler(handler, *request, channel);
      channel.send(
          {{"done", {{"status", reply.status}, {"reason", reply.reason}, {"fatal", reply.fatal}}}});
      if (reply.fatal) return 0;
    }
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

}  // namespace tigon::harness
