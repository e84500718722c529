// Text that came from elsewhere, made fit for JSON.
#pragma once

#include <string>
#include <string_view>

namespace tigon::harness {

// Every byte that is not part of a well-formed UTF-8 sequence (Unicode 15, table 3-7) becomes '?'.
std::string valid_utf8(std::string_view text);

}  // namespace tigon::harness
