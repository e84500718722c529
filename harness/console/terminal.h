// What the output is connected to, and text measured in columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tigon::harness {

bool is_terminal(int file_descriptor);

// On a terminal, unless NO_COLOR is set and not empty (no-color.org) or TERM is "dumb".
bool wants_colour(int file_descriptor);

// Columns of the terminal; `fallback` when it is none or does not say.
int terminal_width(int file_descriptor, int fallback = 100);

// Columns that the UTF-8 text takes: one a code point (units and marks here are no wider).
std::size_t display_width(std::string_view text);

// `text` with spaces after (pad_right) or before it (pad_left) up to `width` columns.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

// At most `width` columns; what was cut is marked by "…" at the end, or, cut_front, at the start.
std::string shorten(std::string_view text, std::size_t width);
std::string shorten_front(std::string_view text, std::size_t width);

enum class Colour { kNone, kBold, kDim, kRed, kGreen, kYellow };

// The text in that colour; unchanged when not `enabled`.
std::string paint(std::string_view text, Colour colour, bool enabled);

}  // namespace tigon::harness
