// The language between the sweep and its workers: JSON objects, one a line, on two dedicated pipes.
//
//   parent -> worker   {"run": <request>}   {"quit": true}   (end of file means quit, too)
//   worker -> parent   {"hello": {...}}                      once, when ready to take cases
//                      {"started": true}                     it took up the request
//                      {"stage": "inputs"}                   a stage begins; also the sign of life
//                      {"row": {"file": "speed", "record": {...}}}
//                      {"done": {"status": "ok", "reason": "", "fatal": false}}
//
// JSON has no NaN and no infinity (they would arrive as null): records carry numbers as text cells.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tigon::harness {

// The message as one line with its line break. Bytes that are not UTF-8 become U+FFFD.
std::string encode_message(const nlohmann::json& message);

// Cuts a byte stream into messages.
class MessageDecoder {
 public:
  enum class Result { kNone, kMessage, kGarbage };

  // Longer lines are garbage: a stray writer must not fill the parent's memory.
  static constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

  void feed(std::string_view bytes) { buffer_.append(bytes); }

  // kMessage: `message` is the next JSON object. kNone: no whole line yet. kGarbage: the next line
  // is no JSON object (or is too long); `excerpt` shows its first bytes, printable.
  Result next(nlohmann::json* message, std::string* excerpt);

  // Bytes of a line whose end has not come.
  bool has_partial_line() const { return begin_ < buffer_.size(); }

 private:
  std::string buffer_;
  std::size_t begin_ = 0;    // start of the line being collected
  std::size_t scanned_ = 0;  // no line break before this offset
};

}  // namespace tigon::harness
