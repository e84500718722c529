#include "reports/markdown_table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tigon::reports {
namespace {

using harness::Results;
using harness::SpeedRecord;
using harness::Status;

SpeedRecord row(const std::string& pass, double time_us, double roof_us, double speedup) {
  SpeedRecord record;
  record.case_id = "rms_norm/rows=8/hidden=64/bf16/normal";
  record.op = "rms_norm";
  record.device = "cuda:0";
  record.implementation = "fused";
  record.pass = pass;
  record.time_us = time_us;
  record.roof_us = roof_us;
  record.roof_share = roof_us / time_us;
  record.speedup_vs_eager = speedup;
  return record;
}

Results results() {
  Results all;
  all.environment = {{"devices", {{"cuda:0", {{"name", "Some GPU"}}}}},
                     {"started_at", "2026-01-02T03:04:05Z"},
                     {"libtorch", "2.11.0"},
                     {"cuda_toolkit", "13.0"},
                     {"git_commit", "0123456789abcdef"},
                     {"preset", "default"},
                     {"seed", 0}};
  all.speed = {row("forward", 20, 18, 5), row("backward", 40, 30, 6), row("step", 60, 48, 5.5)};
  all.speed.back().peak_vs_eager = 0.25;
  return all;
}

TEST(MarkdownTable, ShowsEachTimedCaseAndWhereItComesFrom) {
  EXPECT_EQ(
      markdown_table(results()),
      "Some GPU, 2026-01-02, LibTorch 2.11.0, CUDA 13.0, seed 0, preset default, commit "
      "0123456789ab.\n\n"
      "| rms_norm | forward (of roof) | vs eager | backward (of roof) | vs eager | peak memory "
      "vs eager |\n"
      "| --- | --: | --: | --: | --: | --: |\n"
      "| rows=8/hidden=64/bf16/normal | 20.0 us (90%) | 5.0x | 40.0 us (75%) | 6.0x | 0.25x |\n"
      "\nAll 1 cases of the run are right.\n");
}

TEST(MarkdownTable, NamesWhatIsNotRight) {
  Results all = results();
  all.speed.push_back(row("verify", 1, 1, 1));
  all.speed.back().case_id = "rms_norm/rows=1/hidden=1/fp32/zeros";
  all.speed.back().status = Status::kWrong;
  EXPECT_NE(markdown_table(all).find(
                "1 of 2 cases are not right:\n- rms_norm/rows=1/hidden=1/fp32/zeros\n"),
            std::string::npos);
}

TEST(MarkdownTable, LeavesOutBaselinesAndVerifiedOnlyCases) {
  Results all = results();
  all.speed.push_back(row("forward", 99, 9, 1));
  all.speed.back().implementation = "eager";
  EXPECT_EQ(markdown_table(all).find("99"), std::string::npos);
}

TEST(MarkdownTable, RefusesResultsWithoutFigures) {
  Results all = results();
  all.speed.clear();
  EXPECT_THROW(markdown_table(all), std::invalid_argument);
  all = results();
  all.environment = nullptr;
  EXPECT_THROW(markdown_table(all), std::invalid_argument);
}

}  // namespace
}  // namespace tigon::reports
