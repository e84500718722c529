#include "harness/sweep/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "harness/sweep/suggest.h"

namespace tigon::harness {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> flatten(const std::vector<std::string>& lists, std::string_view what) {
  std::vector<std::string> items;
  for (const std::string& list : lists) {
    for (std::string& item : split(list, ',')) {
      if (item.empty()) {
        throw std::invalid_argument(fmt::format("empty {} in \"{}\"", what, list));
      }
      items.push_back(std::move(item));
    }
  }
  return items;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// Numbers by size, then texts: rows 2, 16, 128 and not 128, 16, 2.
std::vector<std::string> in_reading_order(const std::set<std::string>& values) {
  std::vector<std::string> result(values.begin(), values.end());
  std::stable_sort(result.begin(), result.end(), [](const std::string& a, const std::string& b) {
    const auto x = whole_number(a), y = whole_number(b);
    return x && y ? *x < *y : x.has_value() && !y.has_value();
  });
  return result;
}

std::vector<std::string> names(const std::set<std::string>& set) {
  return {set.begin(), set.end()};
}

}  // namespace

Vocabulary Vocabulary::of(const std::vector<PlannedCase>& cases) {
  Vocabulary result;
  for (const auto& [c, timed] : cases) {
    result.operators.insert(c.op);
    result.profiles.insert(c.profile);
    for (const AxisValue& axis : c.axes) result.axes[axis.name].insert(axis.value);
  }
  return result;
}

bool Filter::Range::contains(int64_t value) const {
  if (value < low || value > high) return false;
  if (factor == 0) return true;
  // Divided down, so that no product can overflow.
  while (value > low && value % factor == 0) value /= factor;
  return value == low;
}

bool Filter::AxisChoice::contains(const std::string& value) const {
  if (values.count(value) > 0) return true;
  const auto number = whole_number(value);
  return number && std::any_of(ranges.begin(), ranges.end(),
                               [&](const Range& range) { return range.contains(*number); });
}

Filter::Range Filter::parse_range(std::string_view argument, std::string_view text) {
  const std::size_t dots = text.find("..");
  const std::size_t star = text.find('*', dots);
  const auto low = whole_number(text.substr(0, dots));
  const auto high = whole_number(text.substr(dots + 2, star - std::min(star, dots + 2)));
  const auto factor = star == std::string_view::npos ? std::optional<int64_t>(0)
                                                     : whole_number(text.substr(star + 1));
  if (!low || !high || !factor) {
    throw std::invalid_argument(
        fmt::format("axis filter \"{}\": \"{}\" is no range; want LOW..HIGH or LOW..HIGH*FACTOR of "
                    "whole numbers",
                    argument, text));
  }
  if (*low > *high) {
    throw std::invalid_argument(fmt::format("axis filter \"{}\": \"{}\" is empty, {} is above {}",
                                            argument, text, *low, *high));
  }
  if (star != std::string_view::npos && (*factor < 2 || *low < 1)) {
    throw std::invalid_argument(fmt::format(
        "axis filter \"{}\": \"{}\" does not grow; want a first value of at least 1 and "
        "a factor of at least 2",
        argument, text));
  }
  return {*low, *high, *factor};
}

void Filter::add_axis(std::string_view argument, const Vocabulary& known) {
  const std::size_t equals = argument.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw std::invalid_argument(
        fmt::format("axis filter \"{}\": want NAME=VALUE[,VALUE...], NAME=LOW..HIGH or "
                    "NAME=LOW..HIGH*FACTOR",
                    argument));
  }
  const std::string name(argument.substr(0, equals));
  const auto axis = known.axes.find(name);
  if (axis == known.axes.end()) {
    std::vector<std::string> axes;
    for (const auto& [other, values] : known.axes) axes.push_back(other);
    throw std::invalid_argument(unknown_name("axis", name, axes));
  }
  AxisChoice& choice = axes_[name];
  const std::string values(argument.substr(equals + 1));
  for (std::string& value : flatten({values}, fmt::format("value of axis \"{}\"", name))) {
    if (value.find("..") != std::string::npos) {
      choice.ranges.push_back(parse_range(argument, value));
    } else if (axis->second.count(value) == 0) {
      throw std::invalid_argument(unknown_name(fmt::format("value of axis \"{}\"", name), value,
                                               in_reading_order(axis->second)));
    } else {
      choice.values.insert(std::move(value));
    }
  }
}

void Filter::add_pattern(const std::string& pattern, bool regex) {
  std::string expression = pattern;
  if (pattern.size() >= 2 && pattern.front() == '/' && pattern.back() == '/') {
    expression = pattern.substr(1, pattern.size() - 2);  // no id begins with '/', so no glob does
    regex = true;
  }
  if (expression.empty()) throw std::invalid_argument("empty id pattern");
  if (!regex) {
    globs_.push_back(expression);
    return;
  }
  try {
    regexes_.emplace_back(expression);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(
        fmt::format("\"{}\" is no regular expression: {}", expression, error.what()));
  }
}

Filter::Filter(const FilterText& text, const Vocabulary& known) {
  for (const std::string& name : flatten(text.operators, "operator")) {
    if (known.operators.count(name) == 0) {
      throw std::invalid_argument(unknown_name("operator", name, names(known.operators)));
    }
    operators_.insert(name);
  }
  for (const std::string& name : flatten(text.profiles, "profile")) {
    if (known.profiles.count(name) == 0) {
      throw std::invalid_argument(unknown_name("profile", name, names(known.profiles)));
    }
    profiles_.insert(name);
  }
  for (const std::string& name : flatten(text.dtypes, "dtype")) dtypes_.insert(parse_dtype(name));
  for (const std::string& axis : text.axes) add_axis(axis, known);
  for (const std::string& pattern : text.patterns) add_pattern(pattern, text.regex);
}

bool Filter::matches(const Case& c) const {
  if (!operators_.empty() && operators_.count(c.op) == 0) return false;
  if (!dtypes_.empty() && dtypes_.count(c.dtype) == 0) return false;
  if (!profiles_.empty() && profiles_.count(c.profile) == 0) return false;
  for (const auto& [name, choice] : axes_) {
    if (!c.has(name) || !choice.contains(c.text(name))) return false;
  }
  if (globs_.empty() && regexes_.empty()) return true;
  const std::string id = c.id();
  return std::any_of(
             globs_.begin(), globs_.end(),
             [&](const std::string& glob) { return fnmatch(glob.c_str(), id.c_str(), 0) == 0; }) ||
         std::any_of(regexes_.begin(), regexes_.end(),
                     [&](const std::regex& regex) { return std::regex_search(id, regex); });
}

std::vector<PlannedCase> select(const FilterText& text, const std::vector<PlannedCase>& cases,
                                const Vocabulary& known) {
  const Filter filter(text, known);
  std::vector<PlannedCase> result;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(result),
               [&](const PlannedCase& planned) { return filter.matches(planned.c); });
  if (!result.empty()) return result;

  std::string message = fmt::format("the filter keeps none of the {} cases", cases.size());
  std::vector<std::string> ids;
  for (const PlannedCase& planned : cases) ids.push_back(planned.c.id());
  for (const std::string& pattern : text.patterns) {
    const auto guess = nearest(pattern, ids);
    if (guess) message += fmt::format("; near \"{}\" there is {}", pattern, *guess);
  }
  throw std::invalid_argument(message);
}

std::vector<PlannedCase> select(const FilterText& text, const std::vector<PlannedCase>& cases) {
  return select(text, cases, Vocabulary::of(cases));
}

}  // namespace tigon::harness
