// Which of the planned cases a command line asks for.
#pragma once

#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/axis.h"
#include "harness/sweep/case.h"

namespace tigon::harness {

// As written on the command line. Every list item may itself be a comma list. Items of one kind are
// alternatives; the kinds (and the axes, by name) must all agree.
struct FilterText {
  std::vector<std::string> operators = {};  // exact names
  // hidden=4096,8192      these values
  // rows=1024..16384      any whole number between, ends included
  // rows=1024..16384*2    1024, 2048, 4096, ... up to the end
  std::vector<std::string> axes = {};
  std::vector<std::string> dtypes = {};    // fp32, bf16, fp16
  std::vector<std::string> profiles = {};  // exact names
  // On the whole id: a glob (* ? [..], where * crosses '/'), or, written as /.../ or with `regex`,
  // a regular expression that matches anywhere. Not split at commas.
  std::vector<std::string> patterns = {};
  bool regex = false;
};

// The names that exist; a filter that uses another is a mistake, not an empty result.
struct Vocabulary {
  std::set<std::string> operators;
  std::map<std::string, std::set<std::string>> axes;  // name -> values
  std::set<std::string> profiles;

  // Everything that stands in these cases.
  static Vocabulary of(const std::vector<PlannedCase>& cases);
  // What else is known though the preset at hand has no case of it.
  void add_operator(std::string name) { operators.insert(std::move(name)); }
};

class Filter {
 public:
  // Throws std::invalid_argument when the text cannot be read or uses a name not in `known`.
  Filter(const FilterText& text, const Vocabulary& known);

  bool matches(const Case& c) const;

 private:
  struct Range {
    int64_t low = 0;
    int64_t high = 0;
    int64_t factor = 0;  // 0: every whole number
    bool contains(int64_t value) const;
  };
  struct AxisChoice {
    std::set<std::string> values;
    std::vector<Range> ranges;
    bool contains(const std::string& value) const;
  };

  static Range parse_range(std::string_view argument, std::string_view text);
  void add_axis(std::string_view argument, const Vocabulary& known);
  void add_pattern(const std::string& pattern, bool regex);

  std::set<std::string> operators_;
  std::map<std::string, AxisChoice> axes_;
  std::set<DType> dtypes_;
  std::set<std::string> profiles_;
  std::vector<std::string> globs_;
  std::vector<std::regex> regexes_;
};

// The cases that the filter keeps, in their order. Throws std::invalid_argument when there are
// none, saying how many cases there were.
std::vector<PlannedCase> select(const FilterText& text, const std::vector<PlannedCase>& cases,
                                const Vocabulary& known);
std::vector<PlannedCase> select(const FilterText& text, const std::vector<PlannedCase>& cases);

}  // namespace tigon::harness
