#include "harness/operator.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tigon::harness {
namespace {

TEST(InputsTest, AreFoundByName) {
  Inputs inputs{{"x", at::ones({2, 3}), true}, {"mask", at::ones({2})}};
  inputs.add({"weight", at::ones({3}), true});
  EXPECT_TRUE(inputs.has("weight"));
  EXPECT_FALSE(inputs.has("bias"));
  EXPECT_EQ(inputs["x"].sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_EQ(inputs.all().size(), 3u);
  EXPECT_TRUE(inputs.all()[0].wants_grad);
  EXPECT_FALSE(inputs.all()[1].wants_grad);
}

TEST(InputsTest, AnUnknownNameIsNamedBesideTheKnownOnes) {
  const Inputs inputs{{"x", at::ones({2})}, {"weight", at::ones({2})}};
  try {
    inputs["w"];
    FAIL();
  } catch (const std::out_of_range& error) {
    EXPECT_EQ(std::string(error.what()), "no input \"w\"; the case has x, weight");
  }
}

TEST(InputsTest, OptionalIsEmptyWhereTheCaseHasNone) {
  const Inputs inputs{{"x", at::ones({2})}};
  EXPECT_TRUE(inputs.optional("x").has_value());
  EXPECT_FALSE(inputs.optional("weight").has_value());
}

}  // namespace
}  // namespace tigon::harness
