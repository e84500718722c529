// The figures of a folder of results as a Markdown table: what the README shows.
#pragma once

#include <string>

#include "harness/record/results.h"

namespace tigon::reports {

// One table an operator: a line per timed case with time, share of the roof and speed against eager
// of forward and backward, and peak memory against eager, for the fused implementation. Above it,
// device, date, commit and the command that made the records; below it how many cases were verified
// and which are not right. Throws std::invalid_argument when there is no environment or no timed
// row.
std::string markdown_table(const harness::Results& results);

}  // namespace tigon::reports
