#include "harness/record/cell.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace tigon::harness {
namespace {

template <typename T>
std::string write(T value) {
  char buffer[32];  // the longest: -2.2250738585072014e-308
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

template <typename T>
void read(std::string_view cell, T& value, std::string_view want) {
  const char* end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc() || stop != end) {
    throw std::invalid_argument(fmt::format("got \"{}\", want {}", cell, want));
  }
}

}  // namespace

std::string to_cell(double value) { return write(value); }
std::string to_cell(int64_t value) { return write(value); }
std::string to_cell(uint64_t value) { return write(value); }

void from_cell(std::string_view cell, double& value) { read(cell, value, "a number"); }
void from_cell(std::string_view cell, int64_t& value) { read(cell, value, "a whole number"); }
void from_cell(std::string_view cell, uint64_t& value) {
  read(cell, value, "a whole number of at least 0");
}

}  // namespace tigon::harness
