#include "harness/process/message.h"

#include <algorithm>

namespace tigon::harness {
namespace {

std::string printable_excerpt(std::string_view line) {
  constexpr std::size_t kShown = 80;
  std::string shown(line.substr(0, kShown));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (line.size() > kShown) shown += "...";
  return shown;
}

}  // namespace

std::string encode_message(const nlohmann::json& message) {
  // JSON escapes line breaks inside strings: the only one is ours.
  std::string line = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  line += '\n';
  return line;
}

MessageDecoder::Result MessageDecoder::next(nlohmann::json* message, std::string* excerpt) {
  const std::size_t end = buffer_.find('\n', std::max(scanned_, begin_));
  if (end == std::string::npos) {
    if (begin_ > 0) {
      buffer_.erase(0, begin_);
      begin_ = 0;
    }
    scanned_ = buffer_.size();
    if (buffer_.size() <= kMaxMessageBytes) return Result::kNone;
    *excerpt = printable_excerpt(buffer_);
    buffer_.clear();
    scanned_ = 0;
    return Result::kGarbage;
  }
  const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
  *message = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  const bool good = message->is_object();
  if (!good) *excerpt = printable_excerpt(line);
  begin_ = scanned_ = end + 1;
  return good ? Result::kMessage : Result::kGarbage;
}

}  // namespace tigon::harness
