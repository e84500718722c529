#include "harness/console/table.h"

#include <gtest/gtest.h>

#include <string>

namespace tigon::harness {
namespace {

SpeedRecord row(const std::string& op, const std::string& point, std::string_view pass) {
  SpeedRecord record;
  record.op = op;
  record.case_id = op + "/" + point;
  record.device = "cuda:0";
  record.implementation = implementation::kFused;
  record.pass = pass;
  record.verdict = verdict::kRight;
  return record;
}

SpeedRecord timed(const std::string& op, const std::string& point, std::string_view pass,
                  double limit_used, double time_us, double roof_share, double speedup,
                  double memory) {
  SpeedRecord record = row(op, point, pass);
  record.limit_used = limit_used;
  record.time_us = time_us;
  record.roof_share = roof_share;
  record.speedup_vs_eager = speedup;
  record.peak_vs_eager = memory;
  return record;
}

std::vector<SpeedRecord> sample() {
  std::vector<SpeedRecord> records = {
      timed("rms_norm", "rows=8192/hidden=4096/bf16/normal", pass::kForward, 0.41, 31.24, 0.92, 5.2,
            0.25),
      timed("rms_norm", "rows=8192/hidden=4096/bf16/normal", pass::kBackward, 0.41, 78.1, 0.85, 4.0,
            0.5),
      timed("rms_norm", "rows=8192/hidden=16384/fp32/normal", pass::kForward, 0.07, 1234, 0.9, 3.1,
            0.25),
      timed("rms_norm", "rows=8192/hidden=16384/fp32/normal", pass::kBackward, 0.08, 2900, 0.81,
            0.97, 1.2),
      row("rms_norm", "rows=8192/hidden=8192/fp16/normal", pass::kForward),
      row("rms_norm", "rows=8192/hidden=8192/bf16/normal", pass::kForward),
      row("rms_norm", "rows=1/hidden=127/bf16/zeros", pass::kVerify),
      row("rms_norm", "rows=3/hidden=127/bf16/outlier", pass::kVerify),
      timed("swiglu", "rows=8192/width=14336/bf16/normal", pass::kStep, 0.5, 402, 0.9, 2.4, 0.6),
  };
  records[3].status = Status::kNoisy;
  records[3].speedup_high = 0.99;
  records[4].status = Status::kCrash;
  records[4].verdict = "";
  records[4].stage = "verify";
  records[4].signal = "SIGSEGV";
  records[4].reason = "worker died";
  records[5].status = Status::kWrong;
  records[5].verdict = verdict::kWrong;
  records[5].limit_used = 3.12;
  records[5].reason = "grad_x: max error 0.4 at [17, 8191]";
  records[6].limit_used = 0.1;
  records[7].limit_used = 0.62;
  records[8].verdict = verdict::kBound;
  // Rows of eager are what the fused ones are held against, and no lines of their own.
  SpeedRecord eager = records[0];
  eager.implementation = implementation::kEager;
  eager.time_us = 162;
  eager.status = Status::kOom;
  records.push_back(eager);
  return records;
}

TEST(Table, Golden) {
  EXPECT_EQ("\n" + render_table(sample(), {.device_names = {{"cuda:0", "NVIDIA H200"}}}), R"(
rms_norm on cuda:0 (NVIDIA H200)
  case                                verdict     forward  roof  vs eager  backward  roof  vs eager  memory
  rows=8192/hidden=4096/bf16/normal   right 41%   31.2 us   92%      5.2x   78.1 us   85%      4.0x   0.50x
  rows=8192/hidden=16384/fp32/normal  right 8%    1.23 ms   90%      3.1x  ~2.90 ms   81%     0.97x   1.20x
  rows=8192/hidden=8192/fp16/normal   CRASH       forward, in verify: SIGSEGV, worker died
  rows=8192/hidden=8192/bf16/normal   WRONG 312%  forward: grad_x: max error 0.4 at [17, 8191]
  2 verify-only cases: all right, worst limit use 62% at rows=3/hidden=127/bf16/outlier

swiglu on cuda:0 (NVIDIA H200)
  case                               verdict      step  roof  vs eager  memory
  rows=8192/width=14336/bf16/normal  bound 50%  402 us   90%      2.4x   0.60x

)");
}

TEST(Table, VerifyOnlyCasesAreListedWhenNotRight) {
  std::vector<SpeedRecord> records;
  for (int i = 1; i <= 184; ++i) {
    records.push_back(row("op", "rows=" + std::to_string(i) + "/fp32/normal", pass::kVerify));
    records.back().limit_used = 0.001 * i;
  }
  records[16].status = Status::kWrong;
  records[16].limit_used = 20;
  records[16].reason = "y: 3 elements are NaN";
  records[99].status = Status::kSkipped;
  records[99].reason = "needs 8 GiB, has 4";
  EXPECT_EQ("\n" + render_table(records), R"(
op on cuda:0
  184 verify-only cases: 182 right, 1 skipped, 1 NOT, worst limit use 18% at rows=184/fp32/normal
  rows=17/fp32/normal   WRONG 2000%  y: 3 elements are NaN
  rows=100/fp32/normal  skipped      needs 8 GiB, has 4

)");
}

TEST(Table, AFailedBaselineIsNamed) {
  SpeedRecord fused = timed("op", "rows=1/fp32/normal", pass::kForward, 0.4, 10, 0.5, 2, 0.5);
  SpeedRecord eager = fused;
  eager.implementation = implementation::kEager;
  eager.status = Status::kError;
  eager.stage = "time";
  eager.reason = "not implemented";
  EXPECT_EQ("\n" + render_table({fused, eager}), R"(
op on cuda:0
  case                verdict  forward  roof  vs eager  memory
  rows=1/fp32/normal  ERROR    eager forward, in time: not implemented

)");
}

TEST(Table, WhatWasNotMeasuredIsADash) {
  SpeedRecord record = row("op", "rows=1/fp32/normal", pass::kForward);
  record.time_us = 10;
  EXPECT_EQ("\n" + render_table({record}), R"(
op on cuda:0
  case                verdict  forward  roof  vs eager  memory
  rows=1/fp32/normal  right    10.0 us     -         -       -

)");
}

TEST(Table, LongReasonsAreCut) {
  SpeedRecord record = row("op", "rows=1/fp32/normal", pass::kForward);
  record.status = Status::kError;
  record.reason = std::string(500, 'x');
  const std::string table = render_table({record});
  EXPECT_NE(table.find("xx…\n"), std::string::npos);
  EXPECT_EQ(table.find(std::string(101, 'x')), std::string::npos);
}

TEST(Table, ColoursOnlyWhenAsked) {
  EXPECT_EQ(render_table(sample()).find('\x1b'), std::string::npos);
  const std::string table = render_table(sample(), {.colour = true});
  EXPECT_NE(table.find("\x1b[32mright 41%\x1b[0m"), std::string::npos);
  EXPECT_NE(table.find("\x1b[31mWRONG 312%\x1b[0m"), std::string::npos);
  EXPECT_NE(table.find("\x1b[33m~2.90 ms\x1b[0m"), std::string::npos);
  EXPECT_NE(table.find("\x1b[31m0.97x\x1b[0m"), std::string::npos);  // surely slower
  EXPECT_NE(table.find("\x1b[31m1.20x\x1b[0m"), std::string::npos);  // hungrier
  EXPECT_NE(table.find("\x1b[33mbound 50%\x1b[0m"), std::string::npos);
}

TEST(Table, NothingRecordedIsNothingShown) { EXPECT_EQ(render_table({}), ""); }

}  // namespace
}  // namespace tigon::harness
