#include "harness/verify/error.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace tigon::harness {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

at::Tensor doubles(std::initializer_list<double> values) { return at::tensor(values, at::kDouble); }

TensorError error_of(const at::Tensor& got, const at::Tensor& truth,
                     at::ScalarType dtype = at::kFloat) {
  return tensor_error(got.to(dtype), truth);
}

// What `call` throws; "" when it does not.
template <typename Call>
std::string thrown_by(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(TensorErrorTest, LargeElementsAreDividedByThemselvesSmallOnesByTheirRow) {
  // Row RMS 5: the element 7 by itself, the element 1 by 5.
  const TensorError error = error_of(doubles({1.5, 7.7}), doubles({1, 7}));
  EXPECT_EQ(error.elements, 2);
  EXPECT_NEAR(error.max, 0.1, 1e-7);
  EXPECT_NEAR(error.rms, 0.1, 1e-7);
}

TEST(TensorErrorTest, ARowOfLargeElementsLendsItsSizeToNoOther) {
  const at::Tensor truth = doubles({1, 1, 1000, 1000}).view({2, 2});
  const at::Tensor got = doubles({1.5, 1, 1000, 1000}).view({2, 2});
  const TensorError error = error_of(got, truth);
  EXPECT_NEAR(error.max, 0.5, 1e-7);
  EXPECT_NEAR(error.rms, 0.25, 1e-7);
}

TEST(TensorErrorTest, AScalarIsItsOwnRow) {
  EXPECT_NEAR(error_of(at::tensor(3.0), at::tensor(2.0, at::kDouble)).max, 0.5, 1e-7);
}

TEST(TensorErrorTest, ATruthOfZeroCountsAsTheSmallestNormalNumber) {
  const TensorError error = error_of(doubles({0x1p-20, 0}), doubles({0, 0}), at::kHalf);
  EXPECT_EQ(error.max, 0x1p-6);
  EXPECT_EQ(error_of(doubles({0, 0}), doubles({0, 0})).max, 0);
}

TEST(TensorErrorTest, SubnormalTruthIsNotHeldToItsOwnSize) {
  // 2^-149 is the smallest fp32: rounding 1.4 of it is off by 40 % of itself, by 2^-24 of a normal.
  const TensorError error = error_of(doubles({0x1p-149}), doubles({1.4 * 0x1p-149}));
  EXPECT_NEAR(error.max, 0.4 * 0x1p-23, 1e-12);
}

TEST(TensorErrorTest, TheTruthIsNotRoundedForTheError) {
  const TensorError error = error_of(doubles({1}), doubles({1 + 0x1p-9}), at::kBFloat16);
  EXPECT_NEAR(error.max, 0x1p-9 / (1 + 0x1p-9), 1e-12);
}

TEST(TensorErrorTest, NonFiniteElementsMustBeTheSameInTheSamePlaces) {
  const at::Tensor truth = doubles({kNan, kInf, -kInf, 1});
  const TensorError same = error_of(truth, truth);
  EXPECT_EQ(same.nonfinite_got, 3);
  EXPECT_EQ(same.nonfinite_want, 3);
  EXPECT_EQ(same.nonfinite_misplaced, 0);
  EXPECT_EQ(same.max, 0);

  EXPECT_EQ(error_of(doubles({kNan, kInf, kInf, 1}), truth).nonfinite_misplaced, 1);  // sign
  EXPECT_EQ(error_of(doubles({kInf, kInf, -kInf, 1}), truth).nonfinite_misplaced, 1);
  EXPECT_EQ(error_of(doubles({kNan, 1, -kInf, 1}), truth).nonfinite_misplaced, 1);
  EXPECT_EQ(error_of(doubles({1, kNan, -kInf, kInf}), truth).nonfinite_misplaced, 3);
}

TEST(TensorErrorTest, WhatTheDtypeCannotHoldIsInfiniteByRounding) {
  // The largest fp16 is 65504; from 65520 on a number rounds to infinity.
  const at::Tensor truth = doubles({65519, 65520, -1e9});
  const TensorError right = error_of(doubles({65504, kInf, -kInf}), truth, at::kHalf);
  EXPECT_EQ(right.nonfinite_want, 2);
  EXPECT_EQ(right.nonfinite_misplaced, 0);
  EXPECT_LT(right.max, 0x1p-11);
  const TensorError clamped = error_of(doubles({65504, 65504, -65504}), truth, at::kHalf);
  EXPECT_EQ(clamped.nonfinite_misplaced, 2);
  EXPECT_EQ(error_of(truth, truth, at::kFloat).nonfinite_want, 0);
}

TEST(TensorErrorTest, NonFiniteElementsSayNothingOfTheirRow) {
  // Without the infinity the row's RMS is 1 / sqrt 2.
  const TensorError error = error_of(doubles({kInf, 1.1}), doubles({kInf, 1}));
  EXPECT_NEAR(error.max, 0.1, 1e-6);
}

TEST(TensorErrorTest, WhatCancelsCountsAgainstItsTerms) {
  const at::Tensor got = doubles({1e-3, 8}), truth = doubles({0, 4}), terms = doubles({100, 2});
  const TensorError error = tensor_error(got.to(at::kFloat), truth, terms);
  EXPECT_NEAR(error.max, 1, 1e-7);  // 4 / 4: the terms are smaller there
  EXPECT_NEAR(tensor_error(got.to(at::kFloat), doubles({0, 8}), terms).max, 1e-5, 1e-9);
}

TEST(TensorErrorTest, NothingHasNoError) {
  const TensorError error =
      tensor_error(at::empty({0, 5}), at::empty({0, 5}, at::TensorOptions(at::kDouble)));
  EXPECT_EQ(error.elements, 0);
  EXPECT_EQ(error.max, 0);
}

TEST(TensorErrorTest, RefusesOtherShapesAndDtypes) {
  EXPECT_EQ(thrown_by([] {
              error_of(doubles({1, 2}), doubles({1, 2}).view({2, 1}));
            }),
            "shape is [2], expected [2, 1]");
  EXPECT_EQ(thrown_by([] { tensor_error(doubles({1}), doubles({1})); }),
            "dtype is Double, expected Float, BFloat16 or Half");
}

TensorError measured(double rms, double max) {
  TensorError error;
  error.elements = 100;
  error.rms = rms;
  error.max = max;
  return error;
}

struct Limits {
  const char* name;
  DType dtype;
  DType intermediates;
  Role role;
  std::optional<TensorError> eager;
  double rms, max;
};

class JudgeTest : public ::testing::TestWithParam<Limits> {};

TEST_P(JudgeTest, IsRightUpToTheLimitAndWrongBeyond) {
  const Limits& p = GetParam();
  const auto verdict = [&](double rms, double max) {
    return judge(measured(rms, max), p.eager, p.dtype, p.intermediates, p.role);
  };
  const double beyond_rms = std::nextafter(p.rms, 1), beyond_max = std::nextafter(p.max, 1);
  const Verdict at = verdict(p.rms, p.max);
  EXPECT_TRUE(at.right) << at.reason;
  EXPECT_EQ(at.limit_rms, p.rms);
  EXPECT_EQ(at.limit_max, p.max);
  EXPECT_EQ(at.used, 1);
  EXPECT_FALSE(verdict(beyond_rms, 0).right);
  EXPECT_FALSE(verdict(0, beyond_max).right);
  EXPECT_EQ(verdict(p.rms / 4, p.max / 2).used, 0.5);
}

constexpr DType kF32 = DType::kFloat32, kB16 = DType::kBFloat16, kF16 = DType::kFloat16;
constexpr double kU32 = 0x1p-24, kUB16 = 0x1p-8, kUF16 = 0x1p-11;

INSTANTIATE_TEST_SUITE_P(
    Limits, JudgeTest,
    ::testing::Values(
        // Eager is better than the floor: L a u and M b u.
        Limits{"floor_fp32", kF32, kF32, Role::kOutput, measured(0, 0), 5 * kU32, 16 * kU32},
        Limits{"floor_fp32_gradient", kF32, kF32, Role::kGradient, measured(0, 0), 6 * kU32,
               24 * kU32},
        Limits{"floor_bf16", kB16, kB16, Role::kOutput, measured(0, 0), 1.25 * kUB16, 4 * kUB16},
        Limits{"floor_fp16_gradient", kF16, kF16, Role::kGradient, measured(0, 0), 1.5 * kUF16,
               6 * kUF16},
        // Eager is worse: L and M times its errors.
        Limits{"eager_fp32", kF32, kF32, Role::kOutput, measured(8 * kU32, 32 * kU32), 10 * kU32,
               64 * kU32},
        Limits{"eager_bf16_gradient", kB16, kB16, Role::kGradient, measured(2 * kUB16, 4 * kUB16),
               3 * kUB16, 12 * kUB16},
        // Eager is so bad that the ceiling holds.
        Limits{"ceiling_fp32", kF32, kF32, Role::kOutput, measured(kU32, 200 * kU32), 5 * kU32,
               256 * kU32},
        Limits{"ceiling_bf16", kB16, kB16, Role::kGradient, measured(kUB16, 10 * kUB16),
               1.5 * kUB16, 16 * kUB16},
        // An fp32 gradient of terms that were rounded to bf16: the coarser floor and ceiling.
        Limits{"mixed", kF32, kB16, Role::kGradient, measured(kUB16, 10 * kUB16), 1.5 * kUB16,
               16 * kUB16},
        Limits{"mixed_floor", kF32, kB16, Role::kGradient, measured(0, 0), 1.5 * kUB16, 6 * kUB16},
        Limits{"finer_intermediates", kB16, kF32, Role::kOutput, measured(0, 0), 1.25 * kUB16,
               4 * kUB16},
        // Without eager floor and ceiling decide.
        Limits{"bound_fp32", kF32, kF32, Role::kOutput, std::nullopt, 5 * kU32, 256 * kU32},
        Limits{"bound_bf16", kB16, kB16, Role::kGradient, std::nullopt, 1.5 * kUB16, 16 * kUB16}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(JudgeReasonTest, MisplacedNonFiniteElementsAreWrongWhateverTheError) {
  TensorError error = measured(0, 0);
  error.nonfinite_misplaced = 3;
  const Verdict verdict = judge(error, measured(0, 0), kF32, kF32, Role::kOutput);
  EXPECT_FALSE(verdict.right);
  EXPECT_EQ(verdict.reason,
            "3 of 100 elements are NaN or infinite where the truth is not the same");
}

TEST(JudgeReasonTest, TheReasonNamesErrorAndLimit) {
  EXPECT_EQ(judge(measured(0.5, 0.5), std::nullopt, kB16, kB16, Role::kOutput).reason,
            "RMS error 0.5 is over its limit 0.00488");
  EXPECT_EQ(judge(measured(0, 0.5), std::nullopt, kB16, kB16, Role::kOutput).reason,
            "largest error 0.5 is over its limit 0.0625");
}

TEST(JudgeReasonTest, AnErrorThatIsNoNumberIsWrong) {
  EXPECT_FALSE(judge(measured(kNan, 0), std::nullopt, kF32, kF32, Role::kOutput).right);
  EXPECT_FALSE(judge(measured(0, kNan), std::nullopt, kF32, kF32, Role::kOutput).right);
}

}  // namespace
}  // namespace tigon::harness
