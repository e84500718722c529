#include "harness/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace tigon::harness {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("values: got none, want at least one");
  for (double value : values) {
    if (std::isnan(value)) throw std::invalid_argument("values: got a NaN");
  }
  std::vector<double> result(values.begin(), values.end());
  std::sort(result.begin(), result.end());
  return result;
}

double quantile_of_sorted(const std::vector<double>& values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double share = position - static_cast<double>(below);
  // Not a + share (b - a) alone: between equal infinities that is NaN.
  if (share == 0 || values[below] == values[above]) return values[below];
  return values[below] + share * (values[above] - values[below]);
}

}  // namespace

double quantile(std::span<const double> values, double q) {
  if (!(q >= 0 && q <= 1)) {
    throw std::invalid_argument(fmt::format("q: got {}, want a value from 0 to 1", q));
  }
  return quantile_of_sorted(sorted(values), q);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

Summary summarize(std::span<const double> values) {
  const std::vector<double> ordered = sorted(values);
  return {quantile_of_sorted(ordered, 0.5), quantile_of_sorted(ordered, 0.1),
          quantile_of_sorted(ordered, 0.9), ordered.front(), static_cast<int64_t>(ordered.size())};
}

double geometric_mean(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("values: got none, want at least one");
  double sum = 0;
  for (double value : values) {
    if (!(value > 0)) {
      throw std::invalid_argument(fmt::format("values: got {}, want all above 0", value));
    }
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace tigon::harness
