// The last lines of a stream, in bounded memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tigon::harness {

class OutputTail {
 public:
  static constexpr std::size_t kMaxBytes = 4096;
  static constexpr std::size_t kMaxLines = 20;

  void append(std::string_view bytes);
  void clear() { buffer_.clear(); }

  // At most the last kMaxLines lines and kMaxBytes bytes, without the final line break. Other
  // control bytes than tab and line break are shown as '?'.
  std::string text() const;

 private:
  std::string buffer_;
};

}  // namespace tigon::harness
