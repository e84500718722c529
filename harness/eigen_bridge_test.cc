#include "harness/eigen_bridge.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <optional>

namespace tigon::harness {
namespace {

at::Tensor numbered(at::IntArrayRef shape) {
  return at::arange(c10::multiply_integers(shape), at::TensorOptions(at::kDouble)).view(shape);
}

TEST(EigenBridgeTest, TheLastDimensionIsTheColumns) {
  const reference::Matrix m = as_matrix(numbered({2, 3, 5}));
  ASSERT_EQ(m.rows(), 6);
  ASSERT_EQ(m.cols(), 5);
  EXPECT_EQ(m(4, 2), 22);
  EXPECT_EQ(as_matrix(numbered({7})).rows(), 1);
  EXPECT_EQ(as_matrix(at::tensor(2.5, at::kDouble))(0, 0), 2.5);
  EXPECT_EQ(as_matrix(numbered({0, 5})).rows(), 0);
}

TEST(EigenBridgeTest, StridesAreFollowed) {
  EXPECT_EQ(as_matrix(numbered({2, 3}).t())(2, 1), 5);
  EXPECT_EQ(as_vector(numbered({4, 2}).select(1, 1))(3), 7);
}

TEST(EigenBridgeTest, ComesBackInTheShapeThatIsAskedFor) {
  const at::Tensor t = numbered({2, 3, 5});
  EXPECT_TRUE(at::equal(as_tensor(as_matrix(t), t), t));
  const at::Tensor transposed = numbered({4, 6}).t();
  EXPECT_TRUE(at::equal(as_tensor(as_matrix(transposed), transposed), transposed));
  EXPECT_TRUE(at::equal(as_tensor(as_vector(numbered({3})), numbered({3})), numbered({3})));
}

TEST(EigenBridgeTest, AnAbsentVectorStaysAbsent) {
  EXPECT_FALSE(as_vector(std::optional<at::Tensor>()).has_value());
  EXPECT_TRUE(as_vector(std::optional(numbered({3}))).has_value());
}

TEST(EigenBridgeTest, AnotherNumberOfElementsIsRefused) {
  EXPECT_THROW(as_tensor(as_vector(numbered({3})), numbered({4})), c10::Error);
}

}  // namespace
}  // namespace tigon::harness
