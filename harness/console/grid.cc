#include "harness/console/grid.h"

#include <algorithm>

namespace tigon::harness {

std::string Grid::render(std::size_t indent, bool colour) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    const std::size_t bound = row.size() < columns_.size() ? row.size() - 1 : row.size();
    for (std::size_t i = 0; i < bound; ++i) {
      widths[i] = std::max(widths[i], display_width(row[i].text));
    }
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line, gap(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto& [text, tint] = row[i];
      const bool runs_on = i + 1 == row.size() && row.size() < columns_.size();
      const std::string blank(runs_on ? 0 : widths[i] - std::min(widths[i], display_width(text)),
                              ' ');
      // Spaces wait until something follows them, and colours stay off them.
      if (columns_[i] == Align::kRight && !runs_on) gap += blank;
      if (!text.empty()) {
        line += gap + paint(text, tint, colour);
        gap.clear();
      }
      if (columns_[i] == Align::kLeft && !runs_on) gap += blank;
      gap += "  ";
    }
    result += line + '\n';
  }
  return result;
}

}  // namespace tigon::harness
