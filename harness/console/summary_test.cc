#include <gtest/gtest.h>

#include "harness/console/table.h"

namespace tigon::harness {
namespace {

SpeedRecord row(std::string case_id, std::string op, std::string device, std::string_view pass,
                double speedup, Status status = Status::kOk) {
  SpeedRecord record;
  record.case_id = std::move(case_id);
  record.op = std::move(op);
  record.device = std::move(device);
  record.implementation = implementation::kFused;
  record.pass = pass;
  record.status = status;
  if (speedup > 0) record.speedup_vs_eager = speedup;
  return record;
}

TEST(Summary, Golden) {
  const std::vector<SpeedRecord> records = {
      row("a", "rms_norm", "cpu", pass::kForward, 2),
      row("a", "rms_norm", "cpu", pass::kBackward, 1, Status::kNoisy),
      row("b", "rms_norm", "cpu", pass::kForward, 8),
      row("c", "rms_norm", "cpu", pass::kForward, 1000, Status::kWrong),  // not counted as speed
      row("d", "swiglu", "cpu", pass::kForward, 0.5),
      row("e", "swiglu", "cpu", pass::kVerify, 0, Status::kCrash),
      row("f", "swiglu", "cpu", pass::kVerify, 0, Status::kSkipped),
      row("a", "rms_norm", "cuda:0", pass::kForward, 20),
  };
  EXPECT_EQ("\n" + render_summary(records, {.folder = "out/run"}), R"(
7 cases: 4 right, 1 wrong, 1 not measured, 1 skipped, 1 noisy (times marked ~)
speed against eager, geometric mean:
  rms_norm on cpu     forward 4.0x (2 cases)  backward 1.00x (1 case)
  swiglu on cpu       forward 0.50x (1 case)
  rms_norm on cuda:0  forward 20x (1 case)
records: out/run (speed.csv, precision.csv, environment.json)
)");
}

TEST(Summary, WithoutTimesThereIsNoSpeed) {
  EXPECT_EQ(render_summary({row("a", "op", "cpu", pass::kVerify, 0)}),
            "1 case: 1 right, 0 wrong, 0 not measured\n");
}

TEST(Summary, ColoursWhatIsNotZero) {
  const std::string text =
      render_summary({row("a", "op", "cpu", pass::kVerify, 0, Status::kWrong)}, {.colour = true});
  EXPECT_EQ(text, "1 case: 0 right, \x1b[31m1 wrong\x1b[0m, 0 not measured\n");
}

}  // namespace
}  // namespace tigon::harness
