#include "harness/process/worker_main.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "harness/process/pipe_io.h"

namespace tigon::harness {
namespace {

using nlohmann::json;

TEST(ParseWorkerFds, TakesTwoDifferentDescriptors) {
  const auto fds = parse_worker_fds("3,14");
  ASSERT_TRUE(fds);
  EXPECT_EQ(fds->in, 3);
  EXPECT_EQ(fds->out, 14);
  for (const char* bad : {"", "3", "3,", ",4", "3,3", "2,4", "3,1", "-3,4", "3,4,5", "3, 4", "a,4",
                          "3,4x", "99999999999,4"}) {
    EXPECT_FALSE(parse_worker_fds(bad)) << "'" << bad << "'";
  }
}

struct Talk {
  int code;
  std::vector<json> said;
};

Talk talk(std::string_view requests, const WorkerHandler& handler) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  // Both directions fit into the pipes' buffers: no thread needed.
  EXPECT_TRUE(write_all(in.write_end.get(), requests));
  in.write_end.reset();
  Talk result;
  result.code = worker_loop(in.read_end.get(), out.write_end.get(), {{"name", "w"}}, handler);
  out.write_end.reset();
  MessageDecoder decoder;
  char buffer[4096];
  for (ssize_t got; (got = ::read(out.read_end.get(), buffer, sizeof(buffer))) > 0;) {
    decoder.feed(std::string_view(buffer, static_cast<std::size_t>(got)));
  }
  json message;
  std::string excerpt;
  while (decoder.next(&message, &excerpt) == MessageDecoder::Result::kMessage) {
    result.said.push_back(message);
  }
  EXPECT_FALSE(decoder.has_partial_line());
  return result;
}

DoneReply unused(const json&, WorkerChannel&) { throw std::logic_error("not to be called"); }

TEST(WorkerLoop, AnswersInOrder) {
  const Talk got = talk("{\"run\":{\"n\":1}}\n{\"run\":{\"n\":2}}\n{\"quit\":true}\n{\"run\":3}\n",
                        [](const json& request, WorkerChannel& channel) {
                          channel.stage("inputs");
                          channel.row("speed", request);
                          return DoneReply{"ok", "fine", false};
                        });
  EXPECT_EQ(got.code, 0);
  const std::vector<json> wanted = {
      json::parse(R"({"hello":{"name":"w"}})"),
      json::parse(R"({"started":true})"),
      json::parse(R"({"stage":"inputs"})"),
      json::parse(R"({"row":{"file":"speed","record":{"n":1}}})"),
      json::parse(R"({"done":{"status":"ok","reason":"fine","fatal":false}})"),
      json::parse(R"({"started":true})"),
      json::parse(R"({"stage":"inputs"})"),
      json::parse(R"({"row":{"file":"speed","record":{"n":2}}})"),
      json::parse(R"({"done":{"status":"ok","reason":"fine","fatal":false}})")};
  EXPECT_EQ(got.said, wanted);
}

TEST(WorkerLoop, ExceptionsAreReplies) {
  const Talk got = talk("{\"run\":0}\n{\"run\":1}\n{\"run\":2}\n{\"run\":3}\n",
                        [](const json& request, WorkerChannel&) -> DoneReply {
                          if (request == 0) throw std::bad_alloc();
                          if (request == 1) throw std::invalid_argument("width");
                          if (request == 2) throw 5;
                          return {};
                        });
  EXPECT_EQ(got.code, 0);
  std::vector<std::string> statuses;
  for (const json& message : got.said) {
    if (message.contains("done")) statuses.push_back(message["done"]["status"]);
  }
  EXPECT_EQ(statuses, (std::vector<std::string>{"oom", "error", "error", "ok"}));
  EXPECT_EQ(got.said[4]["done"]["reason"], "width");
}

TEST(WorkerLoop, EndsAfterAFatalReply) {
  const Talk got = talk("{\"run\":0}\n{\"run\":1}\n", [](const json&, WorkerChannel&) {
    return DoneReply{"error", "sticky", true};
  });
  EXPECT_EQ(got.code, 0);
  ASSERT_EQ(got.said.size(), 3u);
  EXPECT_EQ(got.said[2]["done"]["fatal"], true);
}

TEST(WorkerLoop, EndOfFileMeansQuit) {
  const Talk got = talk("", unused);
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.said.size(), 1u);
}

TEST(WorkerLoop, RefusesWhatIsNoRequest) {
  EXPECT_EQ(talk("nonsense\n", unused).code, 1);
  EXPECT_EQ(talk("{\"walk\":1}\n", unused).code, 1);
  EXPECT_EQ(talk("{}\n", unused).code, 1);
}

TEST(WorkerLoop, EndsWhenTheParentIsGone) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  ASSERT_TRUE(write_all(in.write_end.get(), "{\"run\":0}\n"));
  int calls = 0;
  const int code = worker_loop(in.read_end.get(), out.write_end.get(), {},
                               [&](const json&, WorkerChannel& channel) {
                                 ++calls;
                                 out.read_end.reset();
                                 channel.stage("unheard");
                                 ADD_FAILURE() << "stage() must throw";
                                 return DoneReply{};
                               });
  EXPECT_EQ(code, 1);
  EXPECT_EQ(calls, 1);
}

TEST(WorkerChannel, ThreadsDoNotTearLines) {
  Pipe out = make_pipe();
  WorkerChannel channel(out.write_end.get());
  constexpr int kThreads = 4, kEach = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      // Longer than a pipe writes in one piece.
      for (int i = 0; i < kEach; ++i) channel.stage(std::string(5000, 's'));
    });
  }
  MessageDecoder decoder;
  json message;
  std::string excerpt;
  int whole = 0;
  char buffer[4096];
  while (whole < kThreads * kEach) {
    const ssize_t got = ::read(out.read_end.get(), buffer, sizeof(buffer));
    ASSERT_GT(got, 0);
    decoder.feed(std::string_view(buffer, static_cast<std::size_t>(got)));
    MessageDecoder::Result result;
    while ((result = decoder.next(&message, &excerpt)) == MessageDecoder::Result::kMessage) ++whole;
    ASSERT_EQ(result, MessageDecoder::Result::kNone) << excerpt;
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tigon::harness
