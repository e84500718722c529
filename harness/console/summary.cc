#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/console/format.h"
#include "harness/console/grid.h"
#include "harness/console/outcome.h"
#include "harness/console/table.h"
#include "harness/record/results.h"
#include "harness/stats/quantile.h"

namespace tigon::harness {
namespace {

struct Counts {
  int right = 0, wrong = 0, not_measured = 0, skipped = 0, noisy = 0;
};

Counts count(const std::vector<CaseOutcome>& outcomes) {
  Counts counts;
  for (const CaseOutcome& outcome : outcomes) {
    switch (outcome.status()) {
      case Status::kNoisy:
        ++counts.noisy;
        ++counts.right;
        break;
      case Status::kOk:
        ++counts.right;
        break;
      case Status::kSkipped:
        ++counts.skipped;
        break;
      case Status::kWrong:
        ++counts.wrong;
        break;
      default:
        ++counts.not_measured;
    }
  }
  return counts;
}

std::string count_line(const std::vector<CaseOutcome>& outcomes, bool colour) {
  const Counts counts = count(outcomes);
  std::vector<std::string> parts = {
      paint(fmt::format("{} right", counts.right), Colour::kGreen, colour && counts.right > 0),
      paint(fmt::format("{} wrong", counts.wrong), Colour::kRed, colour && counts.wrong > 0),
      paint(fmt::format("{} not measured", counts.not_measured), Colour::kRed,
            colour && counts.not_measured > 0)};
  if (counts.skipped > 0) parts.push_back(fmt::format("{} skipped", counts.skipped));
  if (counts.noisy > 0) {
    parts.push_back(
        paint(fmt::format("{} noisy (times marked ~)", counts.noisy), Colour::kYellow, colour));
  }
  return fmt::format("{} {}: {}\n", outcomes.size(), outcomes.size() == 1 ? "case" : "cases",
                     fmt::join(parts, ", "));
}

// The speed-ups of the cases that are right, by operator and device and then by pass.
std::string speed_lines(const std::vector<CaseOutcome>& outcomes, bool colour) {
  using Group = std::pair<std::string, std::string>;
  std::vector<Group> order;
  std::map<Group, std::map<std::string, std::vector<double>>> speedups;
  for (const CaseOutcome& outcome : outcomes) {
    if (!outcome.right()) continue;
    for (const SpeedRecord* row : outcome.fused) {
      if (!row->speedup_vs_eager || !(*row->speedup_vs_eager > 0)) continue;
      const Group group{outcome.op, outcome.device};
      if (speedups.count(group) == 0) order.push_back(group);
      speedups[group][row->pass].push_back(*row->speedup_vs_eager);
    }
  }
  if (order.empty()) return "";
  Grid grid(std::vector<Align>(4, Align::kLeft));
  for (const Group& group : order) {
    std::vector<GridCell> cells = {{fmt::format("{} on {}", group.first, group.second)}};
    for (std::string_view pass : {pass::kForward, pass::kBackward, pass::kStep}) {
      const auto found = speedups[group].find(std::string(pass));
      if (found == speedups[group].end()) continue;
      const double mean = geometric_mean(found->second);
      cells.push_back({fmt::format("{} {} ({} {})", pass, format_ratio(mean), found->second.size(),
                                   found->second.size() == 1 ? "case" : "cases"),
                       mean < 1 ? Colour::kRed : Colour::kNone});
    }
    grid.add(std::move(cells));
  }
  return "speed against eager, geometric mean:\n" + grid.render(2, colour);
}

}  // namespace

std::string render_summary(const std::vector<SpeedRecord>& records, const TableOptions& options) {
  const std::vector<CaseOutcome> outcomes = case_outcomes(records);
  std::string result = count_line(outcomes, options.colour) + speed_lines(outcomes, options.colour);
  if (options.folder) {
    result += fmt::format("records: {} ({}, {}, {})\n", options.folder->string(), kSpeedFile,
                          kPrecisionFile, kEnvironmentFile);
  }
  return result;
}

}  // namespace tigon::harness
