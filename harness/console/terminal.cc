#include "harness/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace tigon::harness {
namespace {

constexpr std::string_view kEllipsis = "…";

bool continues_a_code_point(char letter) {
  return (static_cast<unsigned char>(letter) & 0xC0) == 0x80;
}

// Where the code point after `count` of them begins.
std::size_t offset_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    do {
      ++at;
    } while (at < text.size() && continues_a_code_point(text[at]));
    --count;
  }
  return at;
}

std::string spaces_up_to(std::string_view text, std::size_t width) {
  const std::size_t own = display_width(text);
  return std::string(own < width ? width - own : 0, ' ');
}

}  // namespace

bool is_terminal(int file_descriptor) { return ::isatty(file_descriptor) == 1; }

bool wants_colour(int file_descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return is_terminal(file_descriptor);
}

int terminal_width(int file_descriptor, int fallback) {
  winsize size{};
  if (::ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return fallback;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (char letter : text) width += continues_a_code_point(letter) ? 0 : 1;
  return width;
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + spaces_up_to(text, width);
}

std::string pad_left(std::string_view text, std::size_t width) {
  return spaces_up_to(text, width) + std::string(text);
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  return std::string(text.substr(0, offset_of(text, width - 1))) + std::string(kEllipsis);
}

std::string shorten_front(std::string_view text, std::size_t width) {
  const std::size_t own = display_width(text);
  if (own <= width) return std::string(text);
  if (width == 0) return "";
  return std::string(kEllipsis) + std::string(text.substr(offset_of(text, own - (width - 1))));
}

std::string paint(std::string_view text, Colour colour, bool enabled) {
  const auto code = [&]() -> std::string_view {
    switch (colour) {
      case Colour::kNone:
        return "";
      case Colour::kBold:
        return "\x1b[1m";
      case Colour::kDim:
        return "\x1b[2m";
      case Colour::kRed:
        return "\x1b[31m";
      case Colour::kGreen:
        return "\x1b[32m";
      case Colour::kYellow:
        return "\x1b[33m";
    }
    return "";
  }();
  if (!enabled || code.empty() || text.empty()) return std::string(text);
  return std::string(code) + std::string(text) + "\x1b[0m";
}

}  // namespace tigon::harness
