#include "harness/verify/verify.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "harness/verify/testing.h"

namespace tigon::harness {
namespace {

using testing::broken;
using testing::scaled_square;
using testing::scaled_square_case;

Verification verification_of(const Operator& op, const Case& c = scaled_square_case(4, 6)) {
  const PreparedCase prepared = prepare(op, c, at::kCPU, 7);
  Judge judge(prepared, find_truth(prepared));
  return verify(prepared, judge, dispatcher_forward(op, op.fused));
}

ImplementationVerdict fused_of(const Operator& op, const Case& c = scaled_square_case(4, 6)) {
  return *verification_of(op, c).find("fused");
}

TEST(VerifyTest, ARightOperatorIsRightInEveryDtypeAndLayout) {
  const Operator op = scaled_square();
  for (const DType dtype : kAllDTypes) {
    for (const std::string& layout : op.options[0].values) {
      const ImplementationVerdict fused =
          fused_of(op, scaled_square_case(4, 6, dtype, "normal", layout));
      EXPECT_EQ(fused.status, Status::kOk) << layout << ": " << fused.reason;
      EXPECT_EQ(fused.verdict, "right");
      EXPECT_GT(fused.limit_used, 0);
      EXPECT_LE(fused.limit_used, 1);
    }
  }
  EXPECT_EQ(fused_of(op, scaled_square_case(0, 6)).verdict, "right");
}

TEST(VerifyTest, SendsARecordForEveryTensorOfEveryImplementation) {
  Operator op = scaled_square();
  op.library = op.eager;
  op.has_library = [](const Case&) { return true; };
  const Verification v = verification_of(op, scaled_square_case(4, 6, DType::kBFloat16));
  EXPECT_EQ(v.truth, "eigen");
  EXPECT_EQ(v.truth_fault, "");
  ASSERT_EQ(v.verdicts.size(), 3u);
  EXPECT_EQ(v.find("library")->verdict, "right");
  EXPECT_EQ(v.find("reference"), nullptr);
  std::vector<std::string> rows;
  for (const PrecisionRecord& record : v.records) {
    rows.push_back(record.implementation + " " + record.tensor);
    EXPECT_EQ(record.case_id, "scaled_square/rows=4/hidden=6/bf16/normal");
    EXPECT_EQ(record.op, "scaled_square");
    EXPECT_EQ(record.device, "cpu");
    EXPECT_EQ(record.dtype, "bf16");
    EXPECT_EQ(record.truth, "eigen");
    EXPECT_EQ(record.verdict, "right");
    EXPECT_EQ(record.seed, 7u);
    EXPECT_EQ(record.elements, record.tensor == "dweight" ? 6 : 24);
    EXPECT_GT(record.err_rms, 0);
    EXPECT_GT(record.eager_err_rms, 0);
    EXPECT_LE(*record.err_rms, *record.limit_rms);
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"eager y", "eager dx", "eager dweight", "fused y",
                                            "fused dx", "fused dweight", "library y", "library dx",
                                            "library dweight"}));
}

struct Fault {
  const char* name;
  const char* reason;  // how the reason begins
  Case c = scaled_square_case(4, 6);
};

class FaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultTest, IsWrongForItsReason) {
  const ImplementationVerdict fused = fused_of(broken(GetParam().name), GetParam().c);
  EXPECT_EQ(fused.status, Status::kWrong);
  EXPECT_EQ(fused.verdict, "wrong");
  EXPECT_TRUE(fused.reason.starts_with(GetParam().reason)) << fused.reason;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultTest,
    ::testing::Values(
        Fault{"forward_off", "y: RMS error 0.00"}, Fault{"backward_off", "dx: RMS error "},
        Fault{"no_gradient", "dweight: no gradient was given"},
        Fault{"nan", "y: 1 of 24 elements are NaN or infinite where the truth is not the same"},
        Fault{"wide", "y: dtype is Float, expected BFloat16",
              scaled_square_case(4, 6, DType::kBFloat16)},
        Fault{"alias", "y shares memory with input x",
              scaled_square_case(4, 6, DType::kFloat32, "zeros")},
        Fault{"writes_input", "input x was changed"},
        Fault{"writes_gap", "input x was changed",
              scaled_square_case(4, 6, DType::kFloat32, "normal", "strided")},
        Fault{"writes_upstream", "upstream gradient of y was changed"},
        Fault{"writes_past", "1 of 1024 guard bytes after a block of 96 bytes were overwritten"},
        Fault{"reads_unwritten", "in a second run: y has other bits"},
        Fault{"flickers", "in a second run: y has other bits"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(VerifyTest, OtherBitsAreAllowedWhereNobodyClaimsDeterminism) {
  Operator op = broken("flickers");
  op.claims = [](const Case&) { return Claims{false, -1, -1}; };
  const ImplementationVerdict fused = fused_of(op);
  EXPECT_EQ(fused.verdict, "right") << fused.reason;
}

TEST(VerifyTest, AnOutputOfAnotherShapeIsAnErrorOrWrong) {
  // Autograd itself refuses the upstream gradient, which is eager's.
  const ImplementationVerdict fused = fused_of(broken("narrow"));
  EXPECT_EQ(fused.status, Status::kError);
  EXPECT_NE(fused.reason.find("[4, 6]"), std::string::npos) << fused.reason;
}

TEST(VerifyTest, WhatThrowsIsAnErrorWithItsFirstLine) {
  const ImplementationVerdict fused = fused_of(broken("throws"));
  EXPECT_EQ(fused.status, Status::kError);
  EXPECT_EQ(fused.verdict, "");
  EXPECT_EQ(fused.reason, "x has 4 rows, want luck");
}

TEST(VerifyTest, OutOfMemoryIsNoWrongResult) {
  EXPECT_EQ(fused_of(broken("out_of_memory")).status, Status::kOom);
}

TEST(VerifyTest, ATruthThatIsNoneIsSaidToBeNone) {
  Operator op = scaled_square();
  op.reference = [original = op.reference](const Case& c, const Inputs& inputs,
                                           const std::vector<at::Tensor>& upstream) {
    Truth truth = original(c, inputs, upstream);
    truth.gradients[0].second.mul_(2);
    return truth;
  };
  const Verification v = verification_of(op);
  const ImplementationVerdict& fused = *v.find("fused");
  EXPECT_EQ(fused.status, Status::kWrong);
  EXPECT_TRUE(fused.reason.starts_with(
      "the truth cannot be trusted: the reference's gradient of x is not that of its forward"))
      << fused.reason;
  EXPECT_NE(v.truth_fault, "");
}

// Eager that can be prepared with, then runs out of memory.
Operator with_poor_eager() {
  Operator op = scaled_square();
  op.eager = [original = op.eager, calls = std::make_shared<int>(0)](const Case& c,
                                                                     const Inputs& inputs) {
    const bool own_dtype = inputs["x"].scalar_type() != at::kDouble;
    TORCH_CHECK_WITH(OutOfMemoryError, !own_dtype || (*calls)++ == 0, "no more memory");
    return original(c, inputs);
  };
  return op;
}

TEST(VerifyTest, WithoutEagerTheVerdictIsByFloorAndCeiling) {
  const Verification v = verification_of(with_poor_eager());
  EXPECT_EQ(v.find("eager")->status, Status::kOom);
  EXPECT_EQ(v.find("eager")->reason, "no more memory");
  EXPECT_EQ(v.find("fused")->status, Status::kOk);
  EXPECT_EQ(v.find("fused")->verdict, "bound");
  for (const PrecisionRecord& record : v.records) {
    EXPECT_EQ(record.implementation, "fused");
    EXPECT_FALSE(record.eager_err_rms.has_value());
  }
  Operator wrong = with_poor_eager();
  wrong.fused = broken("forward_off").fused;
  EXPECT_EQ(fused_of(wrong).status, Status::kWrong);
}

TEST(JudgeTest, AnAbsentOutputIsNamed) {
  const Operator op = scaled_square();
  const PreparedCase prepared = prepare(op, scaled_square_case(4, 6), at::kCPU, 7);
  const Judge judge(prepared, find_truth(prepared));
  std::vector<PrecisionRecord> records;
  const ImplementationVerdict verdict = judge.judge("fused", {}, {}, &records);
  EXPECT_EQ(verdict.reason, "y: no such output was returned");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].reason, "no gradient was given");
  EXPECT_EQ(records[1].verdict, "wrong");
}

TEST(DescribeFailureTest, TellsMemoryFromOtherErrors) {
  EXPECT_EQ(describe_failure(std::bad_alloc()).status, Status::kOom);
  EXPECT_EQ(describe_failure(
                std::runtime_error("[enforce fail] DefaultCPUAllocator: can't allocate memory"))
                .status,
            Status::kOom);
  const Failure failure = describe_failure(std::runtime_error("one line\nanother"));
  EXPECT_EQ(failure.status, Status::kError);
  EXPECT_EQ(failure.reason, "one line");
}

}  // namespace
}  // namespace tigon::harness
