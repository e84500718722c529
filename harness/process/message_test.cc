#include "harness/process/message.h"

#include <gtest/gtest.h>

namespace tigon::harness {
namespace {

using Result = MessageDecoder::Result;
using nlohmann::json;

struct Decoded {
  Result result;
  json message;
  std::string excerpt;
};

Decoded next(MessageDecoder& decoder) {
  Decoded d;
  d.result = decoder.next(&d.message, &d.excerpt);
  return d;
}

TEST(Message, IsOneLineWhateverItHolds) {
  const json message = {{"row", {{"text", "two\nlines\r\n"}, {"bytes", "\xff\xfe"}}}};
  const std::string line = encode_message(message);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  MessageDecoder decoder;
  decoder.feed(line);
  const Decoded got = next(decoder);
  ASSERT_EQ(got.result, Result::kMessage);
  EXPECT_EQ(got.message["row"]["text"], "two\nlines\r\n");
  EXPECT_EQ(got.message["row"]["bytes"], "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(MessageDecoder, TakesAnyPartition) {
  const std::string stream = encode_message({{"stage", "a"}}) + encode_message({{"stage", "b"}}) +
                             encode_message({{"done", json::object()}});
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    MessageDecoder decoder;
    std::vector<json> got;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      decoder.feed(std::string_view(stream).substr(at, step));
      Decoded d;
      while ((d = next(decoder)).result == Result::kMessage) got.push_back(d.message);
      ASSERT_EQ(d.result, Result::kNone);
    }
    ASSERT_EQ(got.size(), 3u) << "step " << step;
    EXPECT_EQ(got[1], json({{"stage", "b"}}));
    EXPECT_FALSE(decoder.has_partial_line());
  }
}

TEST(MessageDecoder, SaysWhatGarbageLooksLikeAndGoesOn) {
  MessageDecoder decoder;
  decoder.feed("Hello\x01 world\n[1]\n\n{\"stage\":\"a\"}\n{\"st");
  Decoded d = next(decoder);
  EXPECT_EQ(d.result, Result::kGarbage);
  EXPECT_EQ(d.excerpt, "Hello? world");
  d = next(decoder);  // JSON, but no object
  EXPECT_EQ(d.result, Result::kGarbage);
  EXPECT_EQ(d.excerpt, "[1]");
  EXPECT_EQ(next(decoder).result, Result::kGarbage);  // an empty line
  EXPECT_EQ(next(decoder).result, Result::kMessage);
  EXPECT_EQ(next(decoder).result, Result::kNone);
  EXPECT_TRUE(decoder.has_partial_line());
}

TEST(MessageDecoder, RefusesALineWithoutEnd) {
  MessageDecoder decoder;
  const std::string chunk(std::size_t{1} << 20, 'z');
  Result result = Result::kNone;
  std::size_t fed = 0;
  while (result == Result::kNone && fed <= 2 * MessageDecoder::kMaxMessageBytes) {
    decoder.feed(chunk);
    fed += chunk.size();
    result = next(decoder).result;
  }
  EXPECT_EQ(result, Result::kGarbage);
  EXPECT_LE(fed, MessageDecoder::kMaxMessageBytes + chunk.size());
}

}  // namespace
}  // namespace tigon::harness
