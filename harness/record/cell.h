// Values as CSV cells. Numbers by std::to_chars in their shortest form that reads back as the same
// value; nan, inf and -inf are numbers too. An absent value is an empty cell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tigon::harness {

std::string to_cell(double value);
std::string to_cell(int64_t value);
std::string to_cell(uint64_t value);

template <typename T>
std::string to_cell(const std::optional<T>& value) {
  return value ? to_cell(*value) : std::string();
}

// The number that the whole cell holds. Throws std::invalid_argument for anything else.
void from_cell(std::string_view cell, double& value);
void from_cell(std::string_view cell, int64_t& value);
void from_cell(std::string_view cell, uint64_t& value);

template <typename T>
void from_cell(std::string_view cell, std::optional<T>& value) {
  value.reset();
  if (!cell.empty()) from_cell(cell, value.emplace());
}

}  // namespace tigon::harness
