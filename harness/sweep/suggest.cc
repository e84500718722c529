#include "harness/sweep/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tigon::harness {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: a swap looks two rows back.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view got, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  // Farther than a third of its length it is a different name, not a slip.
  std::size_t best_distance = std::max<std::size_t>(1, got.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(got, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view got,
                         const std::vector<std::string>& known) {
  const auto guess = nearest(got, known);
  return fmt::format("unknown {} \"{}\":{} Known: {}", what, got,
                     guess ? fmt::format(" did you mean \"{}\"?", *guess) : "",
                     known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

}  // namespace tigon::harness
