#include "kernels/rms_norm/rms_norm.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/testing/operator_testing.h"
#include "reference/eager/rms_norm.h"

namespace tigon {
namespace {

using at::Tensor;
using namespace operator_testing;  // NOLINT: the vocabulary of these tests
using OptionalTensor = std::optional<Tensor>;

constexpr double kEps = 1e-6;

// y, dx and dweight in double, from the composition of plain operations.
std::vector<Tensor> truth(const Tensor& x, const OptionalTensor& weight, const Tensor& dy,
                          double offset = 0, const std::string& casting = "llama") {
  const Tensor wide_x = leaf(x.to(at::kDouble));
  const OptionalTensor wide_weight =
      weight ? OptionalTensor(leaf(weight->to(at::kDouble))) : std::nullopt;
  const Tensor y = eager::rms_norm(wide_x, wide_weight, kEps, offset, casting);
  std::vector<Tensor> inputs{wide_x};
  if (weight) inputs.push_back(*wide_weight);
  std::vector<Tensor> all{y.detach()};
  for (Tensor& gradient : grad(y, inputs, dy.to(at::kDouble))) all.push_back(gradient);
  return all;
}

// A few roundings of the dtype, of an element's own magnitude, of the whole tensor's, or of the
// terms that it is a difference of.
void expect_close(const Tensor& got, const Tensor& want, at::ScalarType dtype, double terms = 0) {
  const double unit = dtype == at::kFloat ? 0x1p-20 : dtype == at::kHalf ? 0x1p-9 : 0x1p-6;
  ASSERT_EQ(got.sizes(), want.sizes());
  if (want.numel() == 0) return;
  const double scale = std::max(terms, want.square().mean().sqrt().item<double>());
  EXPECT_TRUE(at::allclose(got.to(at::kDouble), want, unit, unit * scale))
      << "largest difference " << got.to(at::kDouble).sub(want).abs().max().item<double>();
}

// The size of what dx is a difference of: dy * (offset + weight) / rms. In a row of one element the
// two cancel but for eps.
double terms_of_dx(const Tensor& x, const Tensor& y, const Tensor& dy) {
  if (x.numel() == 0) return 0;
  return dy.to(at::kDouble).mul(y).div(x.to(at::kDouble)).square().mean().sqrt().item<double>();
}

void expect_right(const Tensor& x_values, const OptionalTensor& weight_values, const Tensor& dy,
                  double offset = 0, const std::string& casting = "llama") {
  const Tensor x = x_values.detach().requires_grad_(true);
  const OptionalTensor weight = weight_values ? OptionalTensor(leaf(*weight_values)) : std::nullopt;
  const Tensor y = rms_norm(x, weight, kEps, offset, casting);
  EXPECT_TRUE(y.is_contiguous());
  EXPECT_EQ(y.scalar_type(), x.scalar_type());
  std::vector<Tensor> inputs{x};
  if (weight) inputs.push_back(*weight);
  const std::vector<Tensor> want = truth(x, weight, dy, offset, casting);
  expect_close(y.detach(), want[0], x.scalar_type());
  const std::vector<Tensor> gradients = grad(y, inputs, dy);
  for (size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_EQ(gradients[i].scalar_type(), inputs[i].scalar_type());
    const double terms = i == 0 ? terms_of_dx(x.detach(), want[0], dy) : 0;
    expect_close(gradients[i], want[i + 1], x.scalar_type(), terms);
  }
}

TEST(RmsNorm, GivesKnownValues) {
  const Tensor x = at::tensor({1.0f, 2.0f, 3.0f, 4.0f}).view({1, 4});
  const Tensor zero = at::zeros({4});
  const Tensor want = at::tensor({0.3651484, 0.7302967, 1.0954451, 1.4605935}).view({1, 4});
  expect_close(rms_norm(x, zero, 0.0, 1.0, "gemma"), want.to(at::kDouble), at::kFloat);
  expect_close(rms_norm(x, std::nullopt, 0.0), want.to(at::kDouble), at::kFloat);
}

TEST(RmsNorm, IsRightInEveryDtypeCastingAndShape) {
  at::manual_seed(1);
  const std::vector<std::vector<int64_t>> shapes = {{1},     {7},        {3, 1},
                                                    {5, 33}, {2, 3, 64}, {2, 1500}};
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::string casting : {"llama", "gemma", "none"}) {
      for (const auto& shape : shapes) {
        SCOPED_TRACE(std::string(toString(dtype)) + " " + casting);
        const Tensor weight = random({shape.back()}, dtype);
        expect_right(random(shape, dtype), weight, random(shape, dtype), 1.0, casting);
        expect_right(random(shape, dtype), std::nullopt, random(shape, dtype), 0.0, casting);
      }
    }
  }
}

TEST(RmsNorm, TakesWidthsThatOthersRefuse) {
  at::manual_seed(2);
  for (const int64_t hidden : {123, 1023, 4097, 5120, 65537, 131072}) {
    expect_right(random({2, hidden}), random({hidden}), random({2, hidden}));
  }
}

TEST(RmsNorm, TakesAnFp32WeightBesideNarrowActivations) {
  at::manual_seed(3);
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    expect_right(random({6, 48}, dtype), random({48}), random({6, 48}, dtype), 0, "gemma");
    expect_right(random({6, 48}, dtype), random({48}), random({6, 48}, dtype));
  }
}

// Two orders of rounding: Gemma's rounds once, Llama's twice.
TEST(RmsNorm, RoundsWhereTheCastingSays) {
  at::manual_seed(4);
  const Tensor x = random({64, 256}, at::kBFloat16);
  const Tensor weight = at::full({256}, 0.1).to(at::kBFloat16);
  const Tensor r = x.to(at::kFloat).square().mean(-1, true).add(kEps).rsqrt();
  const Tensor normed = x.to(at::kFloat).mul(r);
  const Tensor once = normed.mul(weight.to(at::kFloat)).to(at::kBFloat16);
  const Tensor twice = normed.to(at::kBFloat16).mul(weight);
  ASSERT_FALSE(at::equal(once, twice));
  // A sum in another order may move 1 / rms by an ulp of fp32, and that a tie of the rounding.
  const auto differing = [&](const char* casting, const Tensor& want) {
    return rms_norm(x, weight, kEps, 0, casting).ne(want).sum().item<int64_t>();
  };
  EXPECT_LE(differing("gemma", once), 16);
  EXPECT_LE(differing("llama", twice), 16);
  EXPECT_GT(differing("gemma", twice), 1000);
}

TEST(RmsNorm, GivesFiniteGradientsForZeroRows) {
  const Tensor x = leaf(at::zeros({2, 8}));
  const Tensor weight = leaf(at::ones({8}));
  const Tensor dy = random({2, 8});
  const Tensor y = rms_norm(x, weight, 1e-6);
  EXPECT_TRUE(at::equal(y.detach(), at::zeros({2, 8})));
  const auto gradients = grad(y, {x, weight}, dy);
  expect_close(gradients[0], dy.to(at::kDouble).mul(1000), at::kFloat);
  EXPECT_TRUE(at::equal(gradients[1], at::zeros({8})));
}

TEST(RmsNorm, TakesAnEmptyBatch) {
  const Tensor x = leaf(at::zeros({0, 8}));
  const Tensor weight = leaf(at::ones({8}));
  const Tensor y = rms_norm(x, weight);
  const auto gradients = grad(y, {x, weight}, at::zeros({0, 8}));
  EXPECT_EQ(gradients[0].sizes(), x.sizes());
  EXPECT_TRUE(at::equal(gradients[1], at::zeros({8})));
}

TEST(RmsNorm, TakesAnyStrides) {
  at::manual_seed(5);
  const Tensor weight = random({24});
  const Tensor dy = random({4, 24});
  const std::vector<Tensor> xs = {
      random({24, 4}).t(),                            // the row is not the innermost dimension
      random({4, 30}).narrow(1, 3, 24),               // gaps between rows, misaligned
      random({1, 24}).expand({4, 24}),                // one row, four times
      random({97}).narrow(0, 1, 96).view({4, 24}),    // off by one element
      random({4, 48}).view({4, 24, 2}).select(2, 1),  // gaps between elements
  };
  for (const Tensor& x : xs) expect_right(x, weight, dy);
  const Tensor x = random({4, 24});
  expect_right(x, random({48}).view({24, 2}).select(1, 0), dy);
  for (const Tensor& upstream : {random({24, 4}).t(), random({4, 30}).narrow(1, 3, 24),
                                 random({1, 24}).expand({4, 24}), random({1}).expand({4, 24})}) {
    expect_right(x, weight, upstream);
  }
}

TEST(RmsNorm, GivesOnlyTheGradientsThatAreWanted) {
  at::manual_seed(6);
  const Tensor x = random({3, 16}), weight = random({16}), dy = random({3, 16});
  const std::vector<Tensor> want = truth(x, weight, dy);
  const Tensor trained_x = leaf(x);
  expect_close(grad(rms_norm(trained_x, weight), {trained_x}, dy)[0], want[1], at::kFloat);
  const Tensor trained_weight = leaf(weight);
  expect_close(grad(rms_norm(x, trained_weight), {trained_weight}, dy)[0], want[2], at::kFloat);
  // Both could have one, one is asked for.
  const Tensor both = rms_norm(trained_x, trained_weight);
  expect_close(grad(both, {trained_weight}, dy)[0], want[2], at::kFloat);
}

TEST(RmsNorm, BuildsNoGraphWhereNoneIsWanted) {
  const Tensor x = random({3, 16}), weight = random({16});
  const Tensor with_graph = rms_norm(leaf(x), leaf(weight));
  EXPECT_TRUE(with_graph.requires_grad());
  EXPECT_FALSE(rms_norm(x, weight).requires_grad());
  {
    const at::NoGradGuard no_grad;
    const Tensor y = rms_norm(leaf(x), leaf(weight));
    EXPECT_FALSE(y.requires_grad());
    EXPECT_TRUE(at::equal(y, with_graph.detach()));
  }
  const c10::InferenceMode inference;
  const Tensor y = rms_norm(x, weight);
  EXPECT_TRUE(y.is_inference());
  EXPECT_TRUE(at::equal(y, with_graph.detach()));
}

TEST(RmsNorm, WorksUnderAutocast) {
  at::manual_seed(7);
  const Tensor x = leaf(random({3, 16}, at::kBFloat16)), weight = leaf(random({16}));
  const Tensor outside = rms_norm(x, weight).detach();
  const auto [y, wide] = [&] {
    const CpuAutocast autocast;
    const Tensor y = rms_norm(x, weight);
    const Tensor wide = rms_norm(random({3, 16}), weight.detach().to(at::kBFloat16));
    return std::pair(y, wide);
  }();
  EXPECT_TRUE(at::equal(y.detach(), outside));
  EXPECT_EQ(wide.scalar_type(), at::kFloat);  // a narrow weight is widened instead of refused
  const auto gradients = grad(y, {x, weight}, random({3, 16}, at::kBFloat16));
  EXPECT_EQ(gradients[0].scalar_type(), at::kBFloat16);
  EXPECT_EQ(gradients[1].scalar_type(), at::kFloat);
}

TEST(RmsNorm, RunsBackwardAgainWhereTheGraphIsKept) {
  at::manual_seed(8);
  const Tensor x = leaf(random({3, 16})), weight = leaf(random({16})), dy = random({3, 16});
  const Tensor y = rms_norm(x, weight);
  const auto first = grad(y, {x, weight}, dy, /*retain_graph=*/true);
  const auto second = grad(y, {x, weight}, dy);
  EXPECT_TRUE(at::equal(first[0], second[0]));
  EXPECT_TRUE(at::equal(first[1], second[1]));
  EXPECT_TRUE(mentions(error_of([&] {
                         grad(y, {x, weight}, dy);
                       }),
                       "Trying to backward through the graph a second time"));
}

TEST(RmsNorm, NoticesThatASavedTensorWasChanged) {
  const Tensor base = leaf(random({3, 16}));
  const Tensor x = base.mul(1);
  const Tensor weight = leaf(random({16}));
  const Tensor y = rms_norm(x, weight);
  x.add_(1);
  EXPECT_TRUE(mentions(error_of([&] {
                         grad(y, {base}, at::ones({3, 16}));
                       }),
                       "modified by an inplace operation"));
}

TEST(RmsNorm, RefusesASecondDerivative) {
  const Tensor x = leaf(random({3, 16})), weight = leaf(random({16}));
  const Tensor y = rms_norm(x, weight);
  const Tensor dx = grad(y.square(), {x}, at::ones({3, 16}), true, /*create_graph=*/true)[0];
  EXPECT_TRUE(mentions(error_of([&] { grad(dx, {x}, at::ones({3, 16})); }), "rms_norm_backward"));
}

TEST(RmsNorm, RefusesForwardMode) {
  const Tensor x = random({3, 16});
  const uint64_t level = torch::autograd::forward_ad::enter_dual_level();
  x._set_fw_grad(at::ones({3, 16}), level, /*is_inplace_op=*/false);
  EXPECT_TRUE(mentions(error_of([&] { rms_norm(x); }),
                       "rms_norm: forward-mode differentiation is not supported"));
  torch::autograd::forward_ad::exit_dual_level(level);
}

// ---- the upstream gradient's buffer ----

TEST(RmsNorm, LeavesASharedUpstreamGradientAlone) {
  at::manual_seed(9);
  const Tensor x = leaf(random({3, 16})), weight = leaf(random({16})), dy = random({3, 16});
  const Tensor kept = dy.clone();
  grad(rms_norm(x, weight), {x}, dy);
  EXPECT_TRUE(at::equal(dy, kept));
}

// The residual stream of a post-norm model: x0 and the norm get the same gradient.
TEST(RmsNorm, LeavesTheGradientOfAResidualAlone) {
  at::manual_seed(10);
  const Tensor x0 = leaf(random({3, 16})), x = leaf(random({3, 16})), weight = leaf(random({16}));
  const Tensor go = random({3, 16});
  // Through a node, so that the engine owns what it hands to both branches.
  const auto gradients = grad(x0.add(rms_norm(x, weight)).mul(2), {x0, x}, go);
  EXPECT_TRUE(at::equal(gradients[0], go.mul(2)));
  expect_close(gradients[1], truth(x, weight, go.mul(2))[1], at::kFloat);
}

TEST(RmsNorm, UsesAnUpstreamGradientThatNobodyElseHolds) {
  at::manual_seed(11);
  const Tensor x = leaf(random({3, 16})), weight = leaf(random({16})), go = random({3, 16});
  const void* upstream = nullptr;
  const Tensor y = rms_norm(x, weight);
  y.register_hook([&](const Tensor& dy) { upstream = dy.const_data_ptr(); });
  const Tensor dx = grad(y.mul(2), {x}, go)[0];
  EXPECT_EQ(dx.const_data_ptr(), upstream);
  expect_close(dx, truth(x, weight, go.mul(2))[1], at::kFloat);
}

TEST(RmsNorm, LeavesAnUpstreamGradientThatAHookKept) {
  at::manual_seed(12);
  const Tensor x = leaf(random({3, 16})), weight = leaf(random({16})), go = random({3, 16});
  Tensor kept;
  const Tensor y = rms_norm(x, weight);
  y.register_hook([&](const Tensor& dy) { kept = dy; });
  const Tensor dx = grad(y.mul(2), {x}, go)[0];
  EXPECT_TRUE(at::equal(kept, go.mul(2)));
  EXPECT_FALSE(dx.is_alias_of(kept));
}

TEST(RmsNorm, TakesTheExpandedGradientOfASum) {
  at::manual_seed(13);
  const Tensor x = leaf(random({3, 16})), weight = leaf(random({16}));
  const Tensor dx = torch::autograd::grad({rms_norm(x, weight).sum()}, {x})[0];
  expect_close(dx, truth(x, weight, at::ones({3, 16}))[1], at::kFloat);
}

TEST(RmsNorm, GivesTheSameBitsAgain) {
  at::manual_seed(14);
  const Tensor x = leaf(random({300, 64}, at::kBFloat16)), weight = leaf(random({64}));
  const Tensor dy = random({300, 64}, at::kBFloat16);
  const Tensor y = rms_norm(x, weight), y2 = rms_norm(x, weight);
  EXPECT_TRUE(at::equal(y, y2));
  const auto a = grad(y, {x, weight}, dy), b = grad(y2, {x, weight}, dy);
  EXPECT_TRUE(at::equal(a[0], b[0]));
  EXPECT_TRUE(at::equal(a[1], b[1]));
}

// ---- arguments that do not fit ----

TEST(RmsNorm, NamesWhatDoesNotFit) {
  const Tensor x = random({3, 16}), weight = random({16});
  const auto error = [](auto... arguments) { return error_of([=] { rms_norm(arguments...); }); };
  EXPECT_EQ(error(x.to(at::kDouble)),
            "rms_norm: x has dtype Double, expected Float, BFloat16 or Half");
  EXPECT_EQ(error(at::ones({})),
            "rms_norm: x has no dimensions, expected at least one (the last is the row)");
  EXPECT_TRUE(mentions(error(x.to_sparse()), "rms_norm"));  // the dispatcher's own words
  EXPECT_EQ(error(x, random({15})),
            "rms_norm: weight has shape [15], expected [16] (the last dimension of x)");
  EXPECT_EQ(error(x, random({1, 16})),
            "rms_norm: weight has shape [1, 16], expected [16] (the last dimension of x)");
  EXPECT_EQ(error(x, weight.to(at::kHalf)),
            "rms_norm: weight has dtype Half, expected Float (the dtype of x) or Float");
  EXPECT_EQ(error(x.to(at::kHalf), weight.to(at::kBFloat16)),
            "rms_norm: weight has dtype BFloat16, expected Half (the dtype of x) or Float");
  EXPECT_EQ(error(x, weight, -1e-6), "rms_norm: eps is -1e-06, expected a finite number >= 0");
  EXPECT_TRUE(
      mentions(error(x, weight, std::numeric_limits<double>::quiet_NaN()), "rms_norm: eps is nan"));
  EXPECT_EQ(error(x, weight, 1e-6, 0.0, "lama"),
            "rms_norm: casting is \"lama\", expected \"llama\", \"gemma\" or \"none\"");
  EXPECT_TRUE(mentions(error(x, weight.to(at::kMeta)), "meta"));
}

TEST(RmsNorm, GivesShapesWithoutDataOnMeta) {
  const auto meta = at::TensorOptions().device(at::kMeta).dtype(at::kHalf);
  const Tensor x = leaf(at::zeros({3, 16}, meta)), weight = leaf(at::zeros({16}, meta));
  const Tensor y = rms_norm(x, weight);
  EXPECT_EQ(y.sizes(), x.sizes());
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  const auto gradients = grad(y, {x, weight}, at::zeros({3, 16}, meta));
  EXPECT_EQ(gradients[0].sizes(), x.sizes());
  EXPECT_EQ(gradients[1].sizes(), weight.sizes());
}

// ---- GPU ----

class RmsNormCuda : public testing::Test {
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

TEST_F(RmsNormCuda, AgreesWithTheTruth) {
  at::manual_seed(15);
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const int64_t hidden : {1, 33, 4096, 65537}) {
      const Tensor x = random({5, hidden}, dtype), weight = random({hidden}, dtype);
      const Tensor dy = random({5, hidden}, dtype);
      const Tensor gx = leaf(x.to(at::kCUDA)), gw = leaf(weight.to(at::kCUDA));
      const Tensor y = rms_norm(gx, gw);
      const auto want = truth(x, weight, dy);
      expect_close(y.detach().cpu(), want[0], dtype);
      const auto gradients = grad(y, {gx, gw}, dy.to(at::kCUDA));
      expect_close(gradients[0].cpu(), want[1], dtype, terms_of_dx(x, want[0], dy));
      expect_close(gradients[1].cpu(), want[2], dtype);
    }
  }
}

TEST_F(RmsNormCuda, NamesADeviceThatDoesNotFit) {
  const Tensor x = random({3, 16}).to(at::kCUDA);
  EXPECT_EQ(error_of([&] { rms_norm(x, random({16})); }),
            "rms_norm: weight is on cpu, expected cuda:0 (the device of x)");
}

TEST_F(RmsNormCuda, RunsOnADeviceThatIsNotCurrent) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "one GPU on this machine";
  const Tensor x = random({3, 16});
  const Tensor y = rms_norm(x.to(at::Device(at::kCUDA, 1)));
  EXPECT_EQ(y.device(), at::Device(at::kCUDA, 1));
  expect_close(y.cpu(), truth(x, std::nullopt, x)[0], at::kFloat);
}

}  // namespace
}  // namespace tigon
