#include "harness/console/format.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace tigon::harness {
namespace {

// Three digits. The bounds are where rounding would add a fourth.
std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size < 0.9995) return fmt::format("{:.3f}", value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::string format_time_us(double microseconds) {
  if (!std::isfinite(microseconds)) return fmt::format("{}", microseconds);
  const double size = std::abs(microseconds);
  if (size < 999.5) return three_digits(microseconds) + " us";
  if (size < 999.5e3) return three_digits(microseconds / 1e3) + " ms";
  return three_digits(microseconds / 1e6) + " s";
}

std::string format_share(double share) {
  const double percent = share * 100;
  // Below 1 % whole percents would read as nothing.
  if (percent != 0 && std::abs(percent) < 0.95) return fmt::format("{:.1f}%", percent);
  return fmt::format("{:.0f}%", percent);
}

std::string format_ratio(double ratio) {
  const double size = std::abs(ratio);
  // Around 1 the second decimal decides between faster and slower.
  if (size < 1.995) return fmt::format("{:.2f}x", ratio);
  if (size < 9.95) return fmt::format("{:.1f}x", ratio);
  return fmt::format("{:.0f}x", ratio);
}

std::string format_duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::fmax(0, seconds)));
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace tigon::harness
