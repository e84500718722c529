#include "harness/verify/layout.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tigon::harness {
namespace {

at::Tensor numbered(at::IntArrayRef shape) {
  return at::arange(c10::multiply_integers(shape), at::TensorOptions(at::kFloat)).view(shape);
}

TEST(LayoutTest, KeepsShapeAndValuesOfTensorsOfEveryDimension) {
  for (const std::string layout : {"contiguous", "offset", "strided", "transposed"}) {
    for (const at::Tensor& t : {numbered({4, 6}), numbered({2, 3, 5}), numbered({7}), numbered({1}),
                                numbered({}), numbered({0, 6}), numbered({3, 0})}) {
      EXPECT_TRUE(at::equal(with_layout(t, layout), t)) << layout << ' ' << t.sizes();
    }
  }
}

TEST(LayoutTest, ContiguousIsAlignedAndDense) {
  EXPECT_TRUE(with_layout(numbered({4, 6}), "contiguous").is_contiguous());
}

TEST(LayoutTest, OffsetIsDenseButOneElementOffItsAlignment) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const at::Tensor t = with_layout(numbered({4, 8}).to(dtype), "offset");
    EXPECT_TRUE(t.is_contiguous());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.const_data_ptr()) % 16, t.element_size());
  }
}

TEST(LayoutTest, StridedHasGapsAfterItsRows) {
  const at::Tensor t = with_layout(numbered({4, 6}), "strided");
  EXPECT_EQ(t.strides(), (at::IntArrayRef{9, 1}));
  EXPECT_EQ(with_layout(numbered({2, 3, 5}), "strided").strides(), (at::IntArrayRef{24, 8, 1}));
  EXPECT_EQ(with_layout(numbered({7}), "strided").strides(), (at::IntArrayRef{2}));
}

TEST(LayoutTest, TransposedHasItsFirstDimensionInnermost) {
  EXPECT_EQ(with_layout(numbered({4, 6}), "transposed").strides(), (at::IntArrayRef{1, 4}));
  EXPECT_EQ(with_layout(numbered({2, 3, 5}), "transposed").strides(), (at::IntArrayRef{1, 2, 6}));
}

TEST(LayoutTest, ExpandedRepeatsTheFirstRow) {
  const at::Tensor plain = numbered({4, 6});
  const at::Tensor t = with_layout(plain, "expanded");
  EXPECT_EQ(t.sizes(), plain.sizes());
  EXPECT_EQ(t.strides(), (at::IntArrayRef{0, 1}));
  for (int row = 0; row < 4; ++row) EXPECT_TRUE(at::equal(t[row], plain[0]));
  EXPECT_TRUE(at::equal(with_layout(numbered({7}), "expanded"), numbered({7})));
}

TEST(LayoutTest, TheResultRequiresNoGrad) {
  for (const std::string& layout : layout_axis().values) {
    EXPECT_FALSE(with_layout(numbered({4, 6}).requires_grad_(), layout).requires_grad()) << layout;
  }
}

TEST(LayoutTest, TheAxisOffersEveryLayoutWithContiguousAsDefault) {
  EXPECT_EQ(layout_axis().name, "layout");
  EXPECT_EQ(layout_axis().default_value, "contiguous");
  EXPECT_EQ(layout_axis().values.size(), 5u);
}

TEST(LayoutTest, RefusesAnUnknownOne) {
  try {
    with_layout(numbered({4, 6}), "padded");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "layout is \"padded\", expected contiguous, offset, strided, transposed or expanded");
  }
}

}  // namespace
}  // namespace tigon::harness
