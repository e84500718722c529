#include "harness/console/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "harness/console/format.h"
#include "harness/console/grid.h"
#include "harness/console/outcome.h"

namespace tigon::harness {
namespace {

// Longer reasons are cut here: the whole text stands in speed.csv.
constexpr std::size_t kReasonWidth = 100;

constexpr std::string_view kNothing = "-";

std::string point_of(const CaseOutcome& outcome) {
  // The operator stands in the block's title.
  const std::string prefix = outcome.op + "/";
  return outcome.case_id.starts_with(prefix) ? outcome.case_id.substr(prefix.size())
                                             : outcome.case_id;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::toupper(letter));
  return result;
}

GridCell verdict_cell(const CaseOutcome& outcome) {
  const std::string used = outcome.limit_used ? " " + format_share(*outcome.limit_used) : "";
  if (outcome.right()) {
    return outcome.bound ? GridCell{"bound" + used, Colour::kYellow}
                         : GridCell{"right" + used, Colour::kGreen};
  }
  if (outcome.status() == Status::kSkipped) return {"skipped", Colour::kDim};
  return {upper(to_string(outcome.status())) + (outcome.status() == Status::kWrong ? used : ""),
          Colour::kRed};
}

// Who failed where, and why: `eager backward, in time: SIGSEGV, reason`.
std::string failure_text(const SpeedRecord& row) {
  std::string where;
  if (row.implementation != implementation::kFused) where = row.implementation;
  if (row.pass != pass::kVerify && !row.pass.empty()) {
    where += (where.empty() ? "" : " ") + row.pass;
  }
  if (!row.stage.empty()) where += (where.empty() ? "in " : ", in ") + row.stage;
  std::string why = row.signal;
  if (!row.reason.empty()) why += (why.empty() ? "" : ", ") + row.reason;
  const std::string text = where.empty() || why.empty() ? where + why : where + ": " + why;
  return shorten(text, kReasonWidth);
}

std::vector<GridCell> failed_row(const CaseOutcome& outcome) {
  return {{point_of(outcome)}, verdict_cell(outcome), {failure_text(*outcome.deciding)}};
}

template <typename Format>
std::string optional_text(const std::optional<double>& value, Format format) {
  return value ? format(*value) : std::string(kNothing);
}

void add_pass_cells(const SpeedRecord* row, std::vector<GridCell>& cells) {
  if (row == nullptr) {
    cells.insert(cells.end(), 3, GridCell{std::string(kNothing)});
    return;
  }
  const bool noisy = row->status == Status::kNoisy;
  cells.push_back({(noisy ? "~" : "") + optional_text(row->time_us, format_time_us),
                   noisy ? Colour::kYellow : Colour::kNone});
  cells.push_back({optional_text(row->roof_share, format_share)});
  // Slower beyond doubt: the whole interval lies below 1.
  const std::optional<double> high = row->speedup_high ? row->speedup_high : row->speedup_vs_eager;
  cells.push_back({optional_text(row->speedup_vs_eager, format_ratio),
                   high && *high < 1 ? Colour::kRed : Colour::kNone});
}

// Of the step when it was measured as a whole, else of the hungriest pass.
std::optional<double> memory_ratio(const CaseOutcome& outcome) {
  if (const SpeedRecord* step = outcome.row(pass::kStep); step && step->peak_vs_eager) {
    return step->peak_vs_eager;
  }
  std::optional<double> ratio;
  for (const SpeedRecord* row : outcome.fused) {
    if (row->peak_vs_eager) ratio = std::max(ratio.value_or(0), *row->peak_vs_eager);
  }
  return ratio;
}

// Forward and backward, or, of an operator that makes its gradients in the forward, the step.
std::vector<std::string_view> passes_shown(const std::vector<CaseOutcome>& outcomes) {
  const auto any = [&](std::string_view pass) {
    return std::any_of(outcomes.begin(), outcomes.end(),
                       [&](const CaseOutcome& outcome) { return outcome.row(pass) != nullptr; });
  };
  if (any(pass::kBackward)) return {pass::kForward, pass::kBackward};
  if (any(pass::kForward) && any(pass::kStep)) return {pass::kForward, pass::kStep};
  if (any(pass::kStep)) return {pass::kStep};
  return {pass::kForward};
}

std::string timed_lines(const std::vector<CaseOutcome>& outcomes, bool colour) {
  if (outcomes.empty()) return "";
  const auto passes = passes_shown(outcomes);
  std::vector<Align> columns = {Align::kLeft, Align::kLeft};
  columns.resize(2 + 3 * passes.size() + 1, Align::kRight);
  Grid grid(columns);
  std::vector<GridCell> header = {{"case", Colour::kDim}, {"verdict", Colour::kDim}};
  for (std::string_view pass : passes) {
    for (std::string_view title : {pass, std::string_view("roof"), std::string_view("vs eager")}) {
      header.push_back({std::string(title), Colour::kDim});
    }
  }
  header.push_back({"memory", Colour::kDim});
  grid.add(std::move(header));
  for (const CaseOutcome& outcome : outcomes) {
    if (!outcome.right()) {
      grid.add(failed_row(outcome));
      continue;
    }
    std::vector<GridCell> cells = {{point_of(outcome)}, verdict_cell(outcome)};
    for (std::string_view pass : passes) add_pass_cells(outcome.row(pass), cells);
    const std::optional<double> memory = memory_ratio(outcome);
    cells.push_back({optional_text(memory, format_ratio),
                     memory && *memory > 1 ? Colour::kRed : Colour::kNone});
    grid.add(std::move(cells));
  }
  return grid.render(2, colour);
}

std::string verified_lines(const std::vector<CaseOutcome>& outcomes, bool colour) {
  if (outcomes.empty()) return "";
  Grid failures({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  const CaseOutcome* closest = nullptr;
  std::size_t right = 0, skipped = 0, failed = 0;
  for (const CaseOutcome& outcome : outcomes) {
    if (outcome.right()) {
      ++right;
      if (outcome.limit_used &&
          (closest == nullptr || *outcome.limit_used > *closest->limit_used)) {
        closest = &outcome;
      }
      continue;
    }
    ++(outcome.status() == Status::kSkipped ? skipped : failed);
    failures.add(failed_row(outcome));
  }
  std::string text =
      fmt::format("{} verify-only {}: ", outcomes.size(), outcomes.size() == 1 ? "case" : "cases");
  text += right == outcomes.size() ? "all right" : fmt::format("{} right", right);
  if (skipped > 0) text += fmt::format(", {} skipped", skipped);
  if (failed > 0) text += fmt::format(", {} NOT", failed);
  if (closest != nullptr) {
    text += fmt::format(", worst limit use {} at {}", format_share(*closest->limit_used),
                        point_of(*closest));
  }
  return "  " + paint(text, failed > 0 ? Colour::kRed : Colour::kDim, colour) + "\n" +
         failures.render(2, colour);
}

std::string title_of(const CaseOutcome& outcome, const TableOptions& options) {
  std::string title = fmt::format("{} on {}", outcome.op, outcome.device);
  const auto name = std::find_if(options.device_names.begin(), options.device_names.end(),
                                 [&](const auto& entry) { return entry.first == outcome.device; });
  if (name != options.device_names.end()) title += fmt::format(" ({})", name->second);
  return paint(title, Colour::kBold, options.colour) + "\n";
}

}  // namespace

std::string render_table(const std::vector<SpeedRecord>& records, const TableOptions& options) {
  std::vector<CaseOutcome> rest = case_outcomes(records);
  std::string result;
  while (!rest.empty()) {
    // One block: all that share operator and device with the first that is left.
    const auto block_end = std::stable_partition(
        rest.begin(), rest.end(),
        [op = rest.front().op, device = rest.front().device](const CaseOutcome& outcome) {
          return outcome.op == op && outcome.device == device;
        });
    std::vector<CaseOutcome> timed, verified;
    for (auto outcome = rest.begin(); outcome != block_end; ++outcome) {
      (outcome->verify_only ? verified : timed).push_back(*outcome);
    }
    result += title_of(rest.front(), options) + timed_lines(timed, options.colour) +
              verified_lines(verified, options.colour) + "\n";
    rest.erase(rest.begin(), block_end);
  }
  return result;
}

}  // namespace tigon::harness
