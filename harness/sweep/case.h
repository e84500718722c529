// One point of a sweep: what is run, verified and measured as a unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/dtype.h"

namespace tigon::harness {

struct AxisValue {
  std::string name;
  std::string value;
  // An option at its default is known to the case but left out of its id, so that the ids of an
  // operator stay the same when it gains an option.
  bool in_id = true;

  friend bool operator==(const AxisValue&, const AxisValue&) = default;
};

struct Case {
  std::string op;
  // Sizes first, then options, each in the order in which the operator declares them.
  std::vector<AxisValue> axes;
  DType dtype = DType::kFloat32;
  std::string profile;

  // The value of an axis. Throws std::invalid_argument naming operator, axis and the known axes
  // when there is none of that name; integer() also when the value is not a whole number.
  int64_t integer(std::string_view axis) const;
  const std::string& text(std::string_view axis) const;
  bool has(std::string_view axis) const;

  // Filter, test name, CSV key and report row alike:
  //   rms_norm/rows=8192/hidden=4096/casting=gemma/bf16/normal
  // Made of [A-Za-z0-9_./=+-] alone (a colon would split a GoogleTest filter).
  std::string id() const;

  // The id without the operator: what a table that is grouped by operator shows.
  std::string point() const;
};

// Throws std::invalid_argument when the case's id would hold a character that ids may not have, or
// could be read in two ways: an empty part, a '/' or '=' inside a name or a value.
void check_id_parts(const Case& c);

}  // namespace tigon::harness
