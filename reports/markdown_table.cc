#include "reports/markdown_table.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "harness/console/format.h"

namespace tigon::reports {
namespace {

using namespace harness;  // NOLINT: a report speaks of records throughout

struct CaseRows {
  std::string op, point;
  const SpeedRecord* forward = nullptr;
  const SpeedRecord* backward = nullptr;
  const SpeedRecord* step = nullptr;
};

// Timed cases in the order in which they were run.
std::vector<CaseRows> timed_cases(const std::vector<SpeedRecord>& records) {
  std::vector<CaseRows> cases;
  std::map<std::string, size_t> place;
  for (const SpeedRecord& record : records) {
    if (record.implementation != implementation::kFused || record.pass == pass::kVerify) continue;
    const auto [at, added] = place.emplace(record.case_id, cases.size());
    if (added) cases.push_back({record.op, record.case_id.substr(record.op.size() + 1)});
    CaseRows& rows = cases[at->second];
    if (record.pass == pass::kForward) rows.forward = &record;
    if (record.pass == pass::kBackward) rows.backward = &record;
    if (record.pass == pass::kStep) rows.step = &record;
  }
  return cases;
}

std::string time_cell(const SpeedRecord* record) {
  if (record == nullptr) return "";
  if (!record->time_us) return std::string(to_string(record->status));
  std::string text = format_time_us(*record->time_us);
  if (record->roof_share) text += fmt::format(" ({})", format_share(*record->roof_share));
  return text;
}

std::string ratio_cell(const SpeedRecord* record) {
  return record && record->speedup_vs_eager ? format_ratio(*record->speedup_vs_eager) : "";
}

std::string table_of(const std::string& op, const std::vector<CaseRows>& cases) {
  std::string text = fmt::format(
      "| {} | forward (of roof) | vs eager | backward (of roof) | vs eager | peak memory vs eager "
      "|\n"
      "| --- | --: | --: | --: | --: | --: |\n",
      op);
  for (const CaseRows& rows : cases) {
    if (rows.op != op) continue;
    const std::string memory = rows.step && rows.step->peak_vs_eager
                                   ? format_ratio(*rows.step->peak_vs_eager)
                                   : std::string();
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", rows.point, time_cell(rows.forward),
                        ratio_cell(rows.forward), time_cell(rows.backward),
                        ratio_cell(rows.backward), memory);
  }
  return text;
}

std::string text_at(const nlohmann::json& json, const char* key) {
  return json.contains(key) && json.at(key).is_string() ? json.at(key).get<std::string>() : "?";
}

std::string heading(const nlohmann::json& environment) {
  std::string devices;
  for (const auto& [id, facts] : environment.at("devices").items()) {
    devices += (devices.empty() ? "" : ", ") + text_at(facts, "name");
  }
  return fmt::format("{}, {}, LibTorch {}, CUDA {}, seed {}, preset {}, commit {}.\n\n", devices,
                     text_at(environment, "started_at").substr(0, 10),
                     text_at(environment, "libtorch"), text_at(environment, "cuda_toolkit"),
                     environment.at("seed").get<uint64_t>(), text_at(environment, "preset"),
                     text_at(environment, "git_commit").substr(0, 12));
}

std::string verdicts(const std::vector<SpeedRecord>& records) {
  std::set<std::string> all, not_right;
  for (const SpeedRecord& record : records) {
    if (record.implementation != implementation::kFused) continue;
    all.insert(record.case_id);
    if (!is_fine(record.status)) not_right.insert(record.case_id);
  }
  if (not_right.empty()) return fmt::format("\nAll {} cases of the run are right.\n", all.size());
  std::string text = fmt::format("\n{} of {} cases are not right:\n", not_right.size(), all.size());
  for (const std::string& id : not_right) text += "- " + id + "\n";
  return text;
}

}  // namespace

std::string markdown_table(const Results& results) {
  if (results.environment.is_null()) throw std::invalid_argument("the results have no environment");
  const std::vector<CaseRows> cases = timed_cases(results.speed);
  if (cases.empty()) throw std::invalid_argument("the results have no timed row");
  std::string text = heading(results.environment);
  std::set<std::string> done;
  for (const CaseRows& rows : cases) {
    if (!done.insert(rows.op).second) continue;
    if (done.size() > 1) text += "\n";
    text += table_of(rows.op, cases);
  }
  return text + verdicts(results.speed);
}

}  // namespace tigon::reports
