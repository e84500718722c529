// The eager baselines: in double they are the Eigen references; in 16 bits they round where the
// models that they stand for round.
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/BFloat16.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "reference/eager/rms_norm.h"
#include "reference/eager/swiglu.h"
#include "reference/eigen/rms_norm.h"
#include "reference/eigen/swiglu.h"

namespace tigon {
namespace {

using reference::Matrix;
using reference::Vector;

constexpr double kEps = 1e-6;
const std::vector<std::string> kCastings = {"llama", "gemma", "none"};

Matrix random(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, cols,
                             [&](Eigen::Index, Eigen::Index) { return normal(generator); });
}

at::Tensor to_tensor(const Matrix& m) {
  return at::from_blob(const_cast<double*>(m.data()), {m.rows(), m.cols()}, at::kDouble).clone();
}
at::Tensor to_tensor(const Vector& v) {
  return at::from_blob(const_cast<double*>(v.data()), {v.size()}, at::kDouble).clone();
}

// The largest difference in proportion to the expected values' size, or infinity for a wrong shape.
double difference(const at::Tensor& got, const Matrix& want) {
  if (got.dim() != 2 || got.size(0) != want.rows() || got.size(1) != want.cols() ||
      got.scalar_type() != at::kDouble) {
    return std::numeric_limits<double>::infinity();
  }
  if (want.size() == 0) return 0;
  const at::Tensor contiguous = got.detach().contiguous();
  const Eigen::Map<const Matrix> values(contiguous.const_data_ptr<double>(), want.rows(),
                                        want.cols());
  const double size = std::max(1.0, want.cwiseAbs().maxCoeff());
  const double worst = (values - want).cwiseAbs().maxCoeff() / size;
  return values.allFinite() ? worst : std::numeric_limits<double>::infinity();
}
double difference(const at::Tensor& got, const Vector& want) {
  return got.dim() == 1 ? difference(got.unsqueeze(0), Matrix(want.transpose()))
                        : std::numeric_limits<double>::infinity();
}

std::vector<at::Tensor> gradients(const at::Tensor& y, const std::vector<at::Tensor>& inputs,
                                  const at::Tensor& dy) {
  return torch::autograd::grad({y}, inputs, {dy});
}

// rows, hidden, offset; with and without a weight.
class RmsNormInDouble : public testing::TestWithParam<std::tuple<int, int, double, bool>> {};

TEST_P(RmsNormInDouble, EqualsTheReferenceInEveryCasting) {
  const auto [rows, hidden, offset, has_weight] = GetParam();
  Matrix x = random(rows, hidden, 1);
  if (rows > 1) x.row(1).setZero();
  const Matrix dy = random(rows, hidden, 2);
  const Vector w = random(1, hidden, 3).row(0);
  const Vector* weight = has_weight ? &w : nullptr;
  const Matrix y = reference::rms_norm(x, weight, kEps, offset);
  const reference::RmsNormGradients expected =
      reference::rms_norm_backward(dy, x, weight, kEps, offset);
  for (const std::string& casting : kCastings) {
    SCOPED_TRACE(casting);
    const at::Tensor tx = to_tensor(x).requires_grad_();
    std::vector<at::Tensor> inputs = {tx};
    std::optional<at::Tensor> tw;
    if (has_weight) inputs.push_back(tw.emplace(to_tensor(w).requires_grad_()));
    const at::Tensor got = eager::rms_norm(tx, tw, kEps, offset, casting);
    EXPECT_LT(difference(got, y), 1e-12);
    const std::vector<at::Tensor> grads = gradients(got, inputs, to_tensor(dy));
    EXPECT_LT(difference(grads[0], expected.x), 1e-12);
    if (has_weight) {
      EXPECT_LT(difference(grads[1], expected.weight), 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RmsNormInDouble,
                         testing::Combine(testing::Values(0, 1, 5), testing::Values(1, 3, 64, 1023),
                                          testing::Values(0.0, 1.0), testing::Bool()));

TEST(RmsNorm, ResultAndGradientsHaveTheirInputsTypes) {
  for (const std::string& casting : kCastings) {
    for (const at::ScalarType type : {at::kBFloat16, at::kHalf, at::kFloat, at::kDouble}) {
      for (const at::ScalarType weight_type : {type, at::kFloat}) {
        const at::Tensor x = at::ones({2, 3}, type).requires_grad_();
        const at::Tensor weight = at::ones({3}, weight_type).requires_grad_();
        const at::Tensor y = eager::rms_norm(x, weight, kEps, 1, casting);
        EXPECT_EQ(y.scalar_type(), type) << casting;
        const std::vector<at::Tensor> grads = gradients(y, {x, weight}, at::ones_like(y));
        EXPECT_EQ(grads[0].scalar_type(), type) << casting;
        EXPECT_EQ(grads[1].scalar_type(), weight_type) << casting;
        EXPECT_EQ(eager::rms_norm(x, std::nullopt, kEps, 1, casting).scalar_type(), type);
      }
    }
  }
}

c10::BFloat16 bf16(float value) { return value; }

// The sum of squares of [1, 2, 3, 4] is exact in every type, so each rounding can be followed.
struct Bf16Row {
  at::Tensor x = at::tensor({1.f, 2.f, 3.f, 4.f}).to(at::kBFloat16);
  at::Tensor weight = at::tensor({.1f, .3f, 1.7f, .9f}).to(at::kBFloat16);
  float r = 1.f / std::sqrt(7.5f + 1e-6f);

  float x_at(int j) const { return x.const_data_ptr<c10::BFloat16>()[j]; }
  float weight_at(int j) const { return weight.const_data_ptr<c10::BFloat16>()[j]; }
};

void expect_bf16(const at::Tensor& y, const std::vector<c10::BFloat16>& want) {
  ASSERT_EQ(y.scalar_type(), at::kBFloat16);
  for (size_t j = 0; j < want.size(); ++j) {
    EXPECT_EQ(float(y.const_data_ptr<c10::BFloat16>()[j]), float(want[j])) << "element " << j;
  }
}

TEST(RmsNorm, LlamaRoundsTwiceAndOffsetsInTheWeightsType) {
  const Bf16Row row;
  std::vector<c10::BFloat16> plain, offset, fp32_weight;
  for (int j = 0; j < 4; ++j) {
    const float normalized = bf16(row.x_at(j) * row.r);
    plain.push_back(normalized * row.weight_at(j));
    offset.push_back(normalized * float(bf16(row.weight_at(j) + 1.f)));
    fp32_weight.push_back(normalized * (row.weight_at(j) + 1.f));
  }
  expect_bf16(eager::rms_norm(row.x, row.weight, kEps, 0, "llama"), plain);
  expect_bf16(eager::rms_norm(row.x, row.weight, kEps, 1, "llama"), offset);
  expect_bf16(eager::rms_norm(row.x, row.weight.to(at::kFloat), kEps, 1, "llama"), fp32_weight);
}

TEST(RmsNorm, GemmaRoundsOnce) {
  const Bf16Row row;
  std::vector<c10::BFloat16> want;
  for (int j = 0; j < 4; ++j) want.push_back(row.x_at(j) * row.r * (row.weight_at(j) + 1.f));
  expect_bf16(eager::rms_norm(row.x, row.weight, kEps, 1, "gemma"), want);
}

TEST(RmsNorm, NoneRoundsEveryStep) {
  const Bf16Row row;
  // 7.5 + 1e-6 is 7.5 in bf16.
  const float r = bf16(1.f / std::sqrt(7.5f));
  std::vector<c10::BFloat16> want;
  for (int j = 0; j < 4; ++j) {
    const float normalized = bf16(row.x_at(j) * r);
    want.push_back(normalized * float(bf16(row.weight_at(j) + 1.f)));
  }
  expect_bf16(eager::rms_norm(row.x, row.weight, kEps, 1, "none"), want);
}

TEST(RmsNorm, TheOrdersOfRoundingDiffer) {
  const at::Tensor x = to_tensor(random(4, 256, 1)).to(at::kBFloat16);
  const at::Tensor weight = at::ones({256}, at::kBFloat16).mul(0.1);
  const auto differ = [](const at::Tensor& a, const at::Tensor& b) { return !a.equal(b); };
  const at::Tensor llama = eager::rms_norm(x, weight, kEps, 0, "llama");
  const at::Tensor gemma = eager::rms_norm(x, weight, kEps, 0, "gemma");
  const at::Tensor none = eager::rms_norm(x, weight, kEps, 0, "none");
  EXPECT_TRUE(differ(llama, gemma));
  EXPECT_TRUE(differ(llama, none));
  EXPECT_TRUE(differ(gemma, none));
}

// In a post-norm block y = rms(x) + h the upstream gradient also belongs to h.
TEST(RmsNorm, LeavesASharedUpstreamGradientAlone) {
  const at::Tensor x = to_tensor(random(2, 8, 1)).requires_grad_();
  const at::Tensor h = to_tensor(random(2, 8, 2)).requires_grad_();
  const at::Tensor dy = to_tensor(random(2, 8, 3));
  const at::Tensor before = dy.clone();
  const at::Tensor y = eager::rms_norm(x, std::nullopt, kEps, 0, "llama").add(h);
  const std::vector<at::Tensor> grads = gradients(y, {x, h}, dy);
  EXPECT_TRUE(grads[1].equal(before));
  EXPECT_TRUE(dy.equal(before));
}

TEST(RmsNorm, RefusesAnUnknownCasting) {
  try {
    eager::rms_norm(at::ones({1, 2}), std::nullopt, kEps, 0, "LLAMA");
    FAIL();
  } catch (const c10::ValueError& error) {
    EXPECT_STREQ(error.what_without_backtrace(),
                 "rms_norm: casting is \"LLAMA\", wants \"llama\", \"gemma\" or \"none\"");
  }
}

class SwigluInDouble : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(SwigluInDouble, EqualsTheReference) {
  const auto [rows, cols] = GetParam();
  const Matrix a = 4 * random(rows, cols, 1), b = random(rows, cols, 2), dy = random(rows, cols, 3);
  const at::Tensor ta = to_tensor(a).requires_grad_(), tb = to_tensor(b).requires_grad_();
  const at::Tensor y = eager::swiglu(ta, tb);
  EXPECT_LT(difference(y, reference::swiglu(a, b)), 1e-12);
  const std::vector<at::Tensor> grads = gradients(y, {ta, tb}, to_tensor(dy));
  const reference::SwigluGradients expected = reference::swiglu_backward(dy, a, b);
  EXPECT_LT(difference(grads[0], expected.a), 1e-12);
  EXPECT_LT(difference(grads[1], expected.b), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SwigluInDouble,
                         testing::Combine(testing::Values(0, 1, 5), testing::Values(1, 3, 1023)));

TEST(Swiglu, RoundsTheGateBeforeTheProduct) {
  for (const float a : {-3.f, -.7f, .3f, 1.f, 2.9f}) {
    const at::Tensor ta = at::tensor({a}).to(at::kBFloat16);
    const at::Tensor tb = at::tensor({1.7f}).to(at::kBFloat16);
    const float rounded_a = *ta.const_data_ptr<c10::BFloat16>();
    const float silu = bf16(rounded_a / (1.f + std::exp(-rounded_a)));
    expect_bf16(eager::swiglu(ta, tb), {bf16(silu * *tb.const_data_ptr<c10::BFloat16>())});
  }
}

TEST(Swiglu, ResultAndGradientsHaveTheirInputsTypes) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf, at::kFloat, at::kDouble}) {
    const at::Tensor a = at::ones({2, 3}, type).requires_grad_();
    const at::Tensor b = at::ones({2, 3}, type).requires_grad_();
    const at::Tensor y = eager::swiglu(a, b);
    EXPECT_EQ(y.scalar_type(), type);
    for (const at::Tensor& gradient : gradients(y, {a, b}, at::ones_like(y))) {
      EXPECT_EQ(gradient.scalar_type(), type);
    }
  }
}

TEST(Swiglu, BothInputsFromOneTensor) {
  const at::Tensor x = at::zeros({1}, at::kDouble).requires_grad_();
  const at::Tensor a = x.exp(), b = x.exp();
  const at::Tensor y = eager::swiglu(a, b);
  const std::vector<at::Tensor> grads = gradients(y, {x, a, b}, at::ones_like(y));
  EXPECT_NEAR(grads[0].item<double>(), 1.6587291, 1e-7);
  EXPECT_NEAR(grads[1].item<double>(), .9276705, 1e-7);
  EXPECT_NEAR(grads[2].item<double>(), .7310586, 1e-7);
  EXPECT_EQ(a.item<double>(), 1);
  EXPECT_EQ(b.item<double>(), 1);
}

}  // namespace
}  // namespace tigon
