#include "harness/verify/draw.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

namespace tigon::harness {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Case case_of(const std::string& profile, DType dtype = DType::kFloat32, int64_t rows = 64) {
  return {"op", {{"rows", std::to_string(rows)}}, dtype, profile};
}

at::Tensor activations(const std::string& profile, DType dtype = DType::kFloat32,
                       double limit = kInf, uint64_t seed = 1) {
  return Draw(case_of(profile, dtype), seed, at::kCPU).activations({64, 256}, limit);
}

double value(const at::Tensor& scalar) { return scalar.item<double>(); }
double largest(const at::Tensor& t) { return value(t.to(at::kDouble).abs().max()); }

TEST(DrawTest, EveryProfileGivesFiniteValuesOfTheDtypeOnEveryDtype) {
  for (const std::string& profile : Draw::profiles()) {
    for (const DType dtype : kAllDTypes) {
      const at::Tensor x = activations(profile, dtype);
      EXPECT_EQ(x.scalar_type(), scalar_type(dtype)) << profile;
      EXPECT_EQ(x.sizes(), (at::IntArrayRef{64, 256})) << profile;
      EXPECT_TRUE(x.is_contiguous()) << profile;
      EXPECT_TRUE(at::isfinite(x).all().item<bool>()) << profile << ' ' << to_string(dtype);
    }
  }
}

TEST(DrawTest, NoElementsAreNoFault) {
  for (const std::string& profile : Draw::profiles()) {
    Draw draw(case_of(profile), 1, at::kCPU);
    EXPECT_EQ(draw.activations({0, 5}, kInf).numel(), 0) << profile;
  }
}

TEST(DrawTest, NormalIsStandardNormal) {
  const at::Tensor x = activations("normal");
  EXPECT_NEAR(value(x.mean()), 0, 0.05);
  EXPECT_NEAR(value(x.std()), 1, 0.05);
}

TEST(DrawTest, OffsetIsShifted) {
  const at::Tensor x = activations("offset");
  EXPECT_NEAR(value(x.mean()), 100, 0.05);
  EXPECT_NEAR(value(x.std()), 1, 0.05);
}

TEST(DrawTest, OutlierIsOneColumn) {
  const at::Tensor x = activations("outlier");
  const at::Tensor columns = x.square().mean(0).sqrt();
  EXPECT_GT(value(columns[128]), 500);
  columns[128].zero_();
  EXPECT_LT(largest(columns), 2);
}

TEST(DrawTest, OutlierAndExtremeStayBelowTheLimit) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(largest(activations("outlier", dtype, 64)), 64);
    EXPECT_LE(largest(activations("extreme", dtype, 64)), 64);
    EXPECT_GT(largest(activations("extreme", dtype, 64)), 60);
    EXPECT_LE(largest(activations("extreme", dtype)), largest_finite(dtype));
    EXPECT_GT(largest(activations("extreme", dtype)), 0.9 * largest_finite(dtype));
  }
}

TEST(DrawTest, ExtremeKeepsToTheTopAndHasBothSigns) {
  const at::Tensor x = activations("extreme", DType::kFloat32, 64);
  EXPECT_GE(value(x.abs().min()), 64.0 / 16);
  EXPECT_NEAR(value(x.gt(0).to(at::kDouble).mean()), 0.5, 0.05);
}

TEST(DrawTest, ConstantIsOneValueARow) {
  const at::Tensor x = activations("constant");
  EXPECT_EQ(largest(x - x.narrow(1, 0, 1)), 0);
  EXPECT_GT(value(x.select(1, 0).std()), 0.5);
}

TEST(DrawTest, ZerosAreZero) { EXPECT_EQ(largest(activations("zeros")), 0); }

TEST(DrawTest, TinyIsAboutTheSmallestNormalNumber) {
  for (const DType dtype : kAllDTypes) {
    const double x = largest(activations("tiny", dtype));
    EXPECT_GT(x, smallest_normal(dtype)) << to_string(dtype);
    EXPECT_LT(x, 100 * smallest_normal(dtype)) << to_string(dtype);
  }
}

TEST(DrawTest, IntegersAreWholeEverywhere) {
  Draw draw(case_of("integer", DType::kBFloat16), 1, at::kCPU);
  const at::Tensor x = draw.activations({64, 256}, kInf);
  const at::Tensor weight = draw.weights({256}, at::kFloat);
  const at::Tensor upstream = draw.upstream(x);
  for (const at::Tensor& t : {x, weight, upstream}) EXPECT_TRUE(at::equal(t, t.round()));
  EXPECT_EQ(largest(x), 4);
  EXPECT_EQ(value(x.min()), -4);
  EXPECT_EQ(value(weight.min()), 1);
  EXPECT_EQ(value(weight.max()), 3);
  EXPECT_EQ(value(upstream.min()), -2);
  EXPECT_EQ(value(upstream.max()), 2);
}

TEST(DrawTest, WeightsAreNearOneAndUpstreamGradientsAreNormal) {
  Draw draw(case_of("normal", DType::kBFloat16), 1, at::kCPU);
  const at::Tensor weight = draw.weights({10000}, at::kFloat);
  EXPECT_EQ(weight.scalar_type(), at::kFloat);
  EXPECT_NEAR(value(weight.mean()), 1, 0.01);
  EXPECT_NEAR(value(weight.std()), 0.1, 0.01);
  const at::Tensor upstream = draw.upstream(at::empty({100, 100}, at::TensorOptions(at::kHalf)));
  EXPECT_EQ(upstream.scalar_type(), at::kHalf);
  EXPECT_NEAR(value(upstream.to(at::kFloat).std()), 1, 0.05);
}

TEST(DrawTest, TheSameCaseAndSeedGiveTheSameValues) {
  EXPECT_TRUE(at::equal(activations("normal"), activations("normal")));
  EXPECT_FALSE(at::equal(activations("normal"), activations("normal", DType::kFloat32, kInf, 2)));
}

TEST(DrawTest, AnotherCaseGivesOtherValues) {
  Draw one(case_of("normal", DType::kFloat32, 64), 1, at::kCPU);
  Draw other(case_of("normal", DType::kFloat32, 65), 1, at::kCPU);
  EXPECT_FALSE(at::equal(one.activations({8, 8}, kInf), other.activations({8, 8}, kInf)));
}

TEST(DrawTest, SuccessiveTensorsDiffer) {
  Draw draw(case_of("normal"), 1, at::kCPU);
  const at::Tensor first = draw.activations({8, 8}, kInf);
  EXPECT_FALSE(at::equal(first, draw.activations({8, 8}, kInf)));
}

TEST(DrawTest, AnUnknownProfileIsNamedBesideTheKnownOnes) {
  try {
    Draw(case_of("norml"), 1, at::kCPU);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "profile is \"norml\", expected one of normal, offset, outlier, constant, zeros, "
              "extreme, tiny, integer");
  }
}

}  // namespace
}  // namespace tigon::harness
