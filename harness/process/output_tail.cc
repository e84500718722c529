#include "harness/process/output_tail.h"

namespace tigon::harness {

void OutputTail::append(std::string_view bytes) {
  if (bytes.size() > kMaxBytes) bytes.remove_prefix(bytes.size() - kMaxBytes);
  buffer_.append(bytes);
  if (buffer_.size() > kMaxBytes) buffer_.erase(0, buffer_.size() - kMaxBytes);
}

std::string OutputTail::text() const {
  std::string_view tail = buffer_;
  while (!tail.empty() && tail.back() == '\n') tail.remove_suffix(1);
  std::size_t lines = 1;
  for (std::size_t i = tail.size(); i-- > 0;) {
    if (tail[i] == '\n' && ++lines > kMaxLines) {
      tail.remove_prefix(i + 1);
      break;
    }
  }
  std::string shown(tail);
  for (char& c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < ' ' && c != '\n' && c != '\t') || byte == 0x7f) c = '?';
  }
  return shown;
}

}  // namespace tigon::harness
