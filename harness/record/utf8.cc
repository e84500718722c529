#include "harness/record/utf8.h"

#include <cstddef>

namespace tigon::harness {
namespace {

bool between(unsigned char byte, int low, int high) { return byte >= low && byte <= high; }

// The length of the well-formed sequence at the start of `text`, 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const auto tail = [&](std::size_t i) { return between(byte(i), 0x80, 0xBF); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (between(first, 0xC2, 0xDF)) return tail(1) ? 2 : 0;
  if (between(first, 0xE0, 0xEF)) {
    // E0 would be overlong below A0, ED a surrogate from A0 on.
    const bool second = between(byte(1), first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return second && tail(2) ? 3 : 0;
  }
  if (between(first, 0xF0, 0xF4)) {
    // F0 would be overlong below 90, F4 beyond U+10FFFF from 90 on.
    const bool second = between(byte(1), first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      result += '?';
      text.remove_prefix(1);
    } else {
      result += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return result;
}

}  // namespace tigon::harness
