// Error text for a name that is not known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tigon::harness {

// Least number of inserted, removed, replaced or swapped neighbouring characters between the two.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known name nearest to `got`, if one is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view got, const std::vector<std::string>& known);

// `unknown operator "rms_nrom": did you mean "rms_norm"? Known: rms_norm, swiglu`
std::string unknown_name(std::string_view what, std::string_view got,
                         const std::vector<std::string>& known);

}  // namespace tigon::harness
