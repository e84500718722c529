#include "harness/sweep/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "harness/sweep/suggest.h"

namespace tigon::harness {
namespace {

const AxisValue* find(const Case& c, std::string_view axis) {
  const auto found = std::find_if(c.axes.begin(), c.axes.end(),
                                  [&](const AxisValue& value) { return value.name == axis; });
  return found == c.axes.end() ? nullptr : &*found;
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void check_part(const Case& c, std::string_view what, std::string_view text,
                std::string_view marks) {
  const bool fine = !text.empty() && std::all_of(text.begin(), text.end(), [&](char letter) {
    return is_alphanumeric(letter) || marks.find(letter) != std::string_view::npos;
  });
  if (fine) return;
  throw std::invalid_argument(fmt::format(
      "operator \"{}\": {} \"{}\" cannot stand in a case id: want one or more of [A-Za-z0-9{}]",
      c.op, what, text, marks));
}

}  // namespace

const std::string& Case::text(std::string_view axis) const {
  if (const AxisValue* found = find(*this, axis)) return found->value;
  std::vector<std::string> known;
  for (const AxisValue& value : axes) known.push_back(value.name);
  throw std::invalid_argument(
      fmt::format("operator \"{}\": {}", op, unknown_name("axis", axis, known)));
}

int64_t Case::integer(std::string_view axis) const {
  const std::string& value = text(axis);
  int64_t result = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, result);
  if (error != std::errc() || stop != end) {
    throw std::invalid_argument(fmt::format(
        "operator \"{}\": axis \"{}\" is \"{}\", want a whole number", op, axis, value));
  }
  return result;
}

bool Case::has(std::string_view axis) const { return find(*this, axis) != nullptr; }

std::string Case::id() const { return op + '/' + point(); }

std::string Case::point() const {
  std::string result;
  for (const AxisValue& axis : axes) {
    if (axis.in_id) result += axis.name + '=' + axis.value + '/';
  }
  return fmt::format("{}{}/{}", result, to_string(dtype), profile);
}

void check_id_parts(const Case& c) {
  check_part(c, "its name", c.op, "_");
  for (const AxisValue& axis : c.axes) {
    check_part(c, "axis", axis.name, "_");
    check_part(c, fmt::format("the value of axis \"{}\",", axis.name), axis.value, "_.+-");
  }
  check_part(c, "profile", c.profile, "_.+-");
}

}  // namespace tigon::harness
