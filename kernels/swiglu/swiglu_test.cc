#include "kernels/swiglu/swiglu.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/testing/operator_testing.h"
#include "reference/eager/swiglu.h"

namespace tigon {
namespace {

using at::Tensor;
using namespace operator_testing;  // NOLINT: the vocabulary of these tests

// y, da and db in double, from the composition of plain operations.
std::vector<Tensor> truth(const Tensor& a, const Tensor& b, const Tensor& dy) {
  const Tensor wide_a = leaf(a.to(at::kDouble)), wide_b = leaf(b.to(at::kDouble));
  const Tensor y = eager::swiglu(wide_a, wide_b);
  std::vector<Tensor> all = grad(y, {wide_a, wide_b}, dy.to(at::kDouble));
  all.insert(all.begin(), y.detach());
  return all;
}

// Two ulp: everything is computed in fp32 and rounded once. Below fp32's smallest normal number is
// 0.
void expect_close(const Tensor& got, const Tensor& want, at::ScalarType dtype) {
  const double unit = dtype == at::kFloat ? 0x1p-20 : dtype == at::kHalf ? 0x1p-10 : 0x1p-7;
  ASSERT_EQ(got.sizes(), want.sizes());
  if (want.numel() == 0) return;
  const double scale = want.square().mean().sqrt().item<double>();
  EXPECT_TRUE(at::allclose(got.to(at::kDouble), want, unit, 0.25 * unit * scale + 0x1p-126))
      << "largest difference " << got.to(at::kDouble).sub(want).abs().max().item<double>();
}

void expect_right(const Tensor& a_values, const Tensor& b_values, const Tensor& dy) {
  const Tensor a = leaf(a_values), b = leaf(b_values);
  const Tensor y = swiglu(a, b);
  EXPECT_TRUE(y.is_contiguous());
  EXPECT_EQ(y.scalar_type(), a.scalar_type());
  const std::vector<Tensor> want = truth(a, b, dy);
  expect_close(y.detach(), want[0], a.scalar_type());
  const std::vector<Tensor> gradients = grad(y, {a, b}, dy);
  for (size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_EQ(gradients[i].scalar_type(), a.scalar_type());
    expect_close(gradients[i], want[i + 1], a.scalar_type());
  }
}

TEST(Swiglu, IsRightInEveryDtypeAndShape) {
  at::manual_seed(1);
  const std::vector<std::vector<int64_t>> shapes = {{1},        {7},       {3, 1},    {5, 33},
                                                    {2, 3, 64}, {2, 8, 8}, {2, 1500}, {1, 65537}};
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const auto& shape : shapes) {
      SCOPED_TRACE(toString(dtype));
      expect_right(random(shape, dtype), random(shape, dtype), random(shape, dtype));
    }
  }
}

// Where exp(-a) overflows and where it vanishes.
TEST(Swiglu, IsRightAtTheEndsOfTheExponential) {
  const auto values = [](double value) { return at::full({1, 16}, value); };
  const Tensor one = at::ones({1, 16});
  for (const double a : {-1e30, -200.0, -89.0, -80.0, 0.0, 80.0, 89.0, 200.0, 1e30}) {
    SCOPED_TRACE(a);
    expect_right(values(a), one, one);
  }
}

// exp(x) is saved twice by others when a and b are one tensor; writing gradients over it ruins
// theirs.
TEST(Swiglu, LeavesWhatOthersSaved) {
  const Tensor x = leaf(at::zeros({1}));
  const Tensor e = x.exp();
  const Tensor dx = grad(swiglu(e, e), {x}, at::ones({1}))[0];
  EXPECT_NEAR(dx.item<double>(), 1.6587291, 1e-6);
  EXPECT_EQ(e.item<double>(), 1.0);
  const Tensor one = leaf(at::ones({1})), other = leaf(at::ones({1}));
  const auto gradients = grad(swiglu(one, other), {one, other}, at::ones({1}));
  EXPECT_NEAR(gradients[0].item<double>(), 0.9276705, 1e-6);
  EXPECT_NEAR(gradients[1].item<double>(), 0.7310586, 1e-6);
}

TEST(Swiglu, TakesAnEmptyBatch) {
  expect_right(at::zeros({0, 8}), at::zeros({0, 8}), at::zeros({0, 8}));
}

TEST(Swiglu, TakesAnyStrides) {
  at::manual_seed(2);
  const Tensor plain = random({4, 24}), dy = random({4, 24});
  const Tensor both = random({4, 48});
  expect_right(both.narrow(1, 0, 24), both.narrow(1, 24, 24), dy);  // halves of one projection
  const std::vector<Tensor> layouts = {
      random({24, 4}).t(),                            // the row is not the innermost dimension
      random({4, 31}).narrow(1, 3, 24),               // gaps between rows, misaligned
      random({1, 24}).expand({4, 24}),                // one row, four times
      random({97}).narrow(0, 1, 96).view({4, 24}),    // off by one element
      random({4, 48}).view({4, 24, 2}).select(2, 1),  // gaps between elements
  };
  for (const Tensor& layout : layouts) {
    expect_right(layout, plain, dy);
    expect_right(plain, layout, dy);
    expect_right(plain, plain.mul(2), layout);
  }
  expect_right(plain, plain.mul(2), random({1}).expand({4, 24}));
}

TEST(Swiglu, GivesOnlyTheGradientsThatAreWanted) {
  at::manual_seed(3);
  const Tensor a = random({3, 16}), b = random({3, 16}), dy = random({3, 16});
  const std::vector<Tensor> want = truth(a, b, dy);
  const Tensor trained_a = leaf(a), trained_b = leaf(b);
  expect_close(grad(swiglu(trained_a, b), {trained_a}, dy)[0], want[1], at::kFloat);
  expect_close(grad(swiglu(a, trained_b), {trained_b}, dy)[0], want[2], at::kFloat);
  // Both could have one, one is asked for.
  expect_close(grad(swiglu(trained_a, trained_b), {trained_b}, dy)[0], want[2], at::kFloat);
}

TEST(Swiglu, BuildsNoGraphWhereNoneIsWanted) {
  const Tensor a = random({3, 16}), b = random({3, 16});
  const Tensor with_graph = swiglu(leaf(a), leaf(b));
  EXPECT_TRUE(with_graph.requires_grad());
  EXPECT_FALSE(swiglu(a, b).requires_grad());
  {
    const at::NoGradGuard no_grad;
    const Tensor y = swiglu(leaf(a), leaf(b));
    EXPECT_FALSE(y.requires_grad());
    EXPECT_TRUE(at::equal(y, with_graph.detach()));
  }
  const c10::InferenceMode inference;
  const Tensor y = swiglu(a, b);
  EXPECT_TRUE(y.is_inference());
  EXPECT_TRUE(at::equal(y, with_graph.detach()));
}

TEST(Swiglu, WidensUnderAutocast) {
  const Tensor a = leaf(random({3, 16}, at::kBFloat16)), b = leaf(random({3, 16}));
  EXPECT_EQ(error_of([&] { swiglu(a, b); }),
            "swiglu: b has dtype Float, expected BFloat16 (the dtype of a)");
  const auto [y, narrow] = [&] {
    const CpuAutocast autocast;
    const Tensor y = swiglu(a, b);
    const Tensor narrow = swiglu(a, a);
    return std::pair(y, narrow);
  }();
  EXPECT_EQ(y.scalar_type(), at::kFloat);
  EXPECT_EQ(narrow.scalar_type(), at::kBFloat16);
  const auto gradients = grad(y, {a, b}, random({3, 16}));
  EXPECT_EQ(gradients[0].scalar_type(), at::kBFloat16);
  EXPECT_EQ(gradients[1].scalar_type(), at::kFloat);
}

TEST(Swiglu, RunsBackwardAgainWhereTheGraphIsKept) {
  at::manual_seed(4);
  const Tensor a = leaf(random({3, 16})), b = leaf(random({3, 16})), dy = random({3, 16});
  const Tensor y = swiglu(a, b);
  const auto first = grad(y, {a, b}, dy, /*retain_graph=*/true);
  const auto second = grad(y, {a, b}, dy);
  EXPECT_TRUE(at::equal(first[0], second[0]));
  EXPECT_TRUE(at::equal(first[1], second[1]));
  EXPECT_TRUE(mentions(error_of([&] {
                         grad(y, {a, b}, dy);
                       }),
                       "Trying to backward through the graph a second time"));
}

TEST(Swiglu, NoticesThatASavedTensorWasChanged) {
  const Tensor base = leaf(random({3, 16}));
  const Tensor b = base.mul(1);
  const Tensor y = swiglu(base, b);
  b.add_(1);
  EXPECT_TRUE(mentions(error_of([&] {
                         grad(y, {base}, at::ones({3, 16}));
                       }),
                       "modified by an inplace operation"));
}

TEST(Swiglu, RefusesASecondDerivative) {
  const Tensor a = leaf(random({3, 16})), b = leaf(random({3, 16}));
  const Tensor y = swiglu(a, b);
  const Tensor da = grad(y.square(), {a}, at::ones({3, 16}), true, /*create_graph=*/true)[0];
  EXPECT_TRUE(mentions(error_of([&] { grad(da, {a}, at::ones({3, 16})); }), "swiglu_backward"));
}

TEST(Swiglu, RefusesForwardMode) {
  const Tensor a = random({3, 16}), b = random({3, 16});
  const uint64_t level = torch::autograd::forward_ad::enter_dual_level();
  b._set_fw_grad(at::ones({3, 16}), level, /*is_inplace_op=*/false);
  EXPECT_TRUE(mentions(error_of([&] { swiglu(a, b); }),
                       "swiglu: forward-mode differentiation is not supported"));
  torch::autograd::forward_ad::exit_dual_level(level);
}

// ---- the upstream gradient's buffer ----

TEST(Swiglu, LeavesASharedUpstreamGradientAlone) {
  const Tensor a = leaf(random({3, 16})), b = leaf(random({3, 16})), dy = random({3, 16});
  const Tensor kept = dy.clone();
  grad(swiglu(a, b), {a, b}, dy);
  EXPECT_TRUE(at::equal(dy, kept));
}

TEST(Swiglu, LeavesTheGradientOfAResidualAlone) {
  at::manual_seed(5);
  const Tensor residual = leaf(random({3, 16})), a = leaf(random({3, 16})),
               b = leaf(random({3, 16}));
  const Tensor go = random({3, 16});
  const auto gradients = grad(residual.add(swiglu(a, b)).mul(2), {residual, a, b}, go);
  const auto want = truth(a, b, go.mul(2));
  EXPECT_TRUE(at::equal(gradients[0], go.mul(2)));
  expect_close(gradients[1], want[1], at::kFloat);
  expect_close(gradients[2], want[2], at::kFloat);
}

TEST(Swiglu, UsesAnUpstreamGradientThatNobodyElseHolds) {
  at::manual_seed(6);
  const Tensor a = leaf(random({3, 16})), b = leaf(random({3, 16})), go = random({3, 16});
  const void* upstream = nullptr;
  const Tensor y = swiglu(a, b);
  y.register_hook([&](const Tensor& dy) { upstream = dy.const_data_ptr(); });
  const auto gradients = grad(y.mul(2), {a, b}, go);
  const auto want = truth(a, b, go.mul(2));
  EXPECT_EQ(gradients[0].const_data_ptr(), upstream);
  expect_close(gradients[0], want[1], at::kFloat);
  expect_close(gradients[1], want[2], at::kFloat);
}

TEST(Swiglu, LeavesAnUpstreamGradientThatAHookKept) {
  const Tensor a = leaf(random({3, 16})), b = leaf(random({3, 16})), go = random({3, 16});
  Tensor kept;
  const Tensor y = swiglu(a, b);
  y.register_hook([&](const Tensor& dy) { kept = dy; });
  const auto gradients = grad(y.mul(2), {a, b}, go);
  EXPECT_TRUE(at::equal(kept, go.mul(2)));
  EXPECT_FALSE(gradients[0].is_alias_of(kept));
}

TEST(Swiglu, GivesTheSameBitsAgain) {
  const Tensor a = leaf(random({300, 64}, at::kBFloat16)),
               b = leaf(random({300, 64}, at::kBFloat16));
  const Tensor dy = random({300, 64}, at::kBFloat16);
  const Tensor y = swiglu(a, b), y2 = swiglu(a, b);
  EXPECT_TRUE(at::equal(y, y2));
  const auto g = grad(y, {a, b}, dy), g2 = grad(y2, {a, b}, dy);
  EXPECT_TRUE(at::equal(g[0], g2[0]));
  EXPECT_TRUE(at::equal(g[1], g2[1]));
}

// ---- arguments that do not fit ----

TEST(Swiglu, NamesWhatDoesNotFit) {
  const Tensor a = random({3, 16});
  const auto error = [](const Tensor& x, const Tensor& y) {
    return error_of([&] { swiglu(x, y); });
  };
  EXPECT_EQ(error(a.to(at::kDouble), a),
            "swiglu: a has dtype Double, expected Float, BFloat16 or Half");
  EXPECT_EQ(error(at::ones({}), a),
            "swiglu: a has no dimensions, expected at least one (the last is the row)");
  EXPECT_EQ(error(a, random({3, 17})),
            "swiglu: b has shape [3, 17], expected [3, 16] (the shape of a)");
  EXPECT_EQ(error(a, random({16})), "swiglu: b has shape [16], expected [3, 16] (the shape of a)");
  EXPECT_EQ(error(a, a.to(at::kHalf)), "swiglu: b has dtype Half, expected Float (the dtype of a)");
  EXPECT_TRUE(mentions(error(a, a.to(at::kMeta)), "meta"));
}

TEST(Swiglu, GivesShapesWithoutDataOnMeta) {
  const auto meta = at::TensorOptions().device(at::kMeta).dtype(at::kHalf);
  const Tensor a = leaf(at::zeros({3, 16}, meta)), b = leaf(at::zeros({3, 16}, meta));
  const Tensor y = swiglu(a, b);
  EXPECT_EQ(y.sizes(), a.sizes());
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  const auto gradients = grad(y, {a, b}, at::zeros({3, 16}, meta));
  EXPECT_EQ(gradients[0].sizes(), a.sizes());
  EXPECT_EQ(gradients[1].sizes(), b.sizes());
}

// ---- in place ----

// Inner tensors, as a projection makes them: swiglu_ takes no leaves.
struct Projected {
  Tensor leaf_a = leaf(random({3, 16})), leaf_b = leaf(random({3, 16}));
  Tensor a = leaf_a.mul(1), b = leaf_b.mul(1);
};

TEST(SwigluInplace, WritesTheGradientsIntoItsInputs) {
  at::manual_seed(8);
  Projected p;
  const Tensor dy = random({3, 16});
  const auto want = truth(p.a.detach(), p.b.detach(), dy);
  const Tensor plain = swiglu(p.leaf_a, p.leaf_b);
  const Tensor y = swiglu_(p.a, p.b);
  EXPECT_TRUE(at::equal(y, plain));
  const auto gradients = grad(y, {p.a, p.b}, dy);
  EXPECT_EQ(gradients[0].const_data_ptr(), p.a.const_data_ptr());
  EXPECT_EQ(gradients[1].const_data_ptr(), p.b.const_data_ptr());
  expect_close(gradients[0], want[1], at::kFloat);
  expect_close(gradients[1], want[2], at::kFloat);
}

// The halves of one projection: rows that lie apart.
TEST(SwigluInplace, TakesRowsThatLieApart) {
  at::manual_seed(9);
  const Tensor x = leaf(random({4, 48})), dy = random({4, 24});
  const auto want = truth(x.detach().narrow(1, 0, 24), x.detach().narrow(1, 24, 24), dy);
  const Tensor both = x.mul(1);
  Tensor a = both.narrow(1, 0, 24), b = both.narrow(1, 24, 24);
  const Tensor dx = grad(swiglu_(a, b), {x}, dy)[0];
  expect_close(dx.narrow(1, 0, 24), want[1], at::kFloat);
  expect_close(dx.narrow(1, 24, 24), want[2], at::kFloat);
}

TEST(SwigluInplace, LeavesItsInputsAloneWithoutAutograd) {
  const Tensor a = random({3, 16}), b = random({3, 16});
  Tensor a_again = a.clone(), b_again = b.clone();
  EXPECT_TRUE(at::equal(swiglu_(a_again, b_again), swiglu(a, b)));
  EXPECT_TRUE(at::equal(a_again, a));
  EXPECT_TRUE(at::equal(b_again, b));
}

TEST(SwigluInplace, IsNoticedByWhoeverSavedItsInputs) {
  Projected before;
  const Tensor saved_before = before.a.square();
  swiglu_(before.a, before.b);
  EXPECT_TRUE(mentions(error_of([&] {
                         grad(saved_before, {before.leaf_a}, at::ones({3, 16}));
                       }),
                       "modified by an inplace operation"));
  Projected after;
  const Tensor y = swiglu_(after.a, after.b);
  const Tensor saved_after = after.a.square();
  grad(y, {after.leaf_a}, at::ones({3, 16}), /*retain_graph=*/true);
  EXPECT_TRUE(mentions(error_of([&] {
                         grad(saved_after, {after.leaf_a}, at::ones({3, 16}));
                       }),
                       "modified by an inplace operation"));
}

TEST(SwigluInplace, RefusesASecondBackward) {
  Projected p;
  const Tensor y = swiglu_(p.a, p.b);
  grad(y, {p.a, p.b}, at::ones({3, 16}), /*retain_graph=*/true);
  EXPECT_TRUE(mentions(error_of([&] {
                         grad(y, {p.a, p.b}, at::ones({3, 16}));
                       }),
                       "swiglu_: backward was called before"));
}

TEST(SwigluInplace, RefusesWhatItCannotWriteOver) {
  Projected p;
  const auto error = [](Tensor a, Tensor b) { return error_of([&] { swiglu_(a, b); }); };
  EXPECT_TRUE(mentions(error(p.leaf_a, p.b), "swiglu_: a "));
  EXPECT_TRUE(mentions(error(p.a, p.leaf_b), "swiglu_: b "));
  EXPECT_TRUE(mentions(error(p.leaf_a.view({3, 16}), p.b), "swiglu_: a "));
  EXPECT_TRUE(mentions(error(p.a, p.a), "swiglu_: a and b share memory"));
  // Overlapping slices of the same rows; the halves of one projection, side by side, are fine.
  at::Tensor rows = at::randn({4, 16}).requires_grad_(true).mul(1);
  EXPECT_TRUE(mentions(error(rows.narrow(1, 0, 8), rows.narrow(1, 4, 8)), "a and b share memory"));
  at::Tensor gate = rows.narrow(1, 0, 8), up = rows.narrow(1, 8, 8);
  EXPECT_NO_THROW(swiglu_(gate, up));
  EXPECT_TRUE(mentions(error(p.leaf_a.mul(1).t(), p.leaf_b.mul(1).t()), "swiglu_: a has strides"));
  EXPECT_TRUE(mentions(error(p.a, random({1, 16}).expand({3, 16})), "swiglu_: b has strides"));
  EXPECT_TRUE(mentions(error(p.a, random({3, 17})), "swiglu_: b has shape [3, 17]"));
}

// ---- GPU ----

class SwigluCuda : public testing::Test {
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

TEST_F(SwigluCuda, AgreesWithTheTruth) {
  at::manual_seed(7);
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const int64_t width : {1, 33, 4096, 65537}) {
      const Tensor a = random({5, width}, dtype), b = random({5, width}, dtype);
      const Tensor dy = random({5, width}, dtype);
      const Tensor ga = leaf(a.to(at::kCUDA)), gb = leaf(b.to(at::kCUDA));
      const Tensor y = swiglu(ga, gb);
      const auto want = truth(a, b, dy);
      expect_close(y.detach().cpu(), want[0], dtype);
      const auto gradients = grad(y, {ga, gb}, dy.to(at::kCUDA));
      expect_close(gradients[0].cpu(), want[1], dtype);
      expect_close(gradients[1].cpu(), want[2], dtype);
    }
  }
}

TEST_F(SwigluCuda, NamesADeviceThatDoesNotFit) {
  const Tensor a = random({3, 16});
  EXPECT_EQ(error_of([&] { swiglu(a.to(at::kCUDA), a); }),
            "swiglu: b is on cpu, expected cuda:0 (the device of a)");
}

TEST_F(SwigluCuda, RunsOnADeviceThatIsNotCurrent) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "one GPU on this machine";
  const Tensor a = random({3, 16});
  const Tensor there = a.to(at::Device(at::kCUDA, 1));
  const Tensor y = swiglu(there, there);
  EXPECT_EQ(y.device(), at::Device(at::kCUDA, 1));
  expect_close(y.cpu(), truth(a, a, a)[0], at::kFloat);
}

}  // namespace
}  // namespace tigon
