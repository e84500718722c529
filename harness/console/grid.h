// Text in aligned columns.
#pragma once

#include <string>
#include <vector>

#include "harness/console/terminal.h"

namespace tigon::harness {

struct GridCell {
  std::string text;
  Colour colour = Colour::kNone;
};

enum class Align { kLeft, kRight };

class Grid {
 public:
  explicit Grid(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // A row may have fewer cells than there are columns; the last of such a row runs on over the
  // columns that it leaves out and does not widen its own.
  void add(std::vector<GridCell> row) { rows_.push_back(std::move(row)); }

  // Every row on a line of its own, two spaces between columns, no spaces at the end.
  std::string render(std::size_t indent, bool colour) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<GridCell>> rows_;
};

}  // namespace tigon::harness
