#include "harness/verify/truth.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "harness/verify/program.h"
#include "harness/verify/testing.h"

namespace tigon::harness {
namespace {

using testing::scaled_square;
using testing::scaled_square_case;

constexpr int64_t kEigenElementsCpu = int64_t{1} << 25;

PreparedCase prepared(const Operator& op, const Case& c = scaled_square_case(4, 6)) {
  return prepare(op, c, at::kCPU, 7);
}

TEST(PrepareTest, DrawsAnUpstreamGradientForEachOutput) {
  const Operator op = scaled_square();
  const PreparedCase p = prepared(op, scaled_square_case(4, 6, DType::kBFloat16));
  ASSERT_EQ(p.upstream.size(), 1u);
  EXPECT_EQ(p.upstream[0].sizes(), (at::IntArrayRef{4, 6}));
  EXPECT_EQ(p.upstream[0].scalar_type(), at::kBFloat16);
  EXPECT_FALSE(p.upstream[0].requires_grad());
  EXPECT_EQ(tensor_names(p), (std::vector<std::string>{"y", "dx", "dweight"}));
}

TEST(PrepareTest, IsTheSameEachTime) {
  const Operator op = scaled_square();
  const PreparedCase a = prepared(op), b = prepared(op);
  EXPECT_TRUE(at::equal(a.inputs["x"], b.inputs["x"]));
  EXPECT_TRUE(at::equal(a.upstream[0], b.upstream[0]));
}

TEST(PrepareTest, LaysInputsAndUpstreamOut) {
  const Operator op = scaled_square();
  const PreparedCase p =
      prepared(op, scaled_square_case(4, 6, DType::kFloat32, "normal", "transposed"));
  EXPECT_EQ(p.inputs["x"].strides(), (at::IntArrayRef{1, 4}));
  EXPECT_EQ(p.upstream[0].strides(), (at::IntArrayRef{1, 4}));
}

TEST(PrepareTest, RefusesAnEagerWithOtherOutputsThanNames) {
  Operator op = scaled_square();
  op.output_names = {"y", "rstd"};
  try {
    prepared(op);
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_EQ(std::string(error.what()), "eager scaled_square gave 1 outputs, expected 2");
  }
}

TEST(FindTruthTest, SmallCasesAskTheReferenceAndItIsRight) {
  const Operator op = scaled_square();
  const PreparedCase p = prepared(op);
  const CaseTruth truth = find_truth(p);
  EXPECT_EQ(truth.kind, "eigen");
  const Inputs in = in_double(p.inputs, at::kCPU);
  ASSERT_EQ(truth.outputs.size(), 1u);
  ASSERT_EQ(truth.gradients.size(), 2u);
  EXPECT_TRUE(at::equal(truth.outputs[0], in["weight"] * in["x"] * in["x"]));
  EXPECT_EQ(truth.gradients[0].sizes(), in["x"].sizes());
  EXPECT_EQ(truth.gradients[1].sizes(), in["weight"].sizes());
}

TEST(FindTruthTest, LargeOnesAskEagerInDouble) {
  Operator op = scaled_square();
  op.reference = [](const Case&, const Inputs&, const std::vector<at::Tensor>&) -> Truth {
    throw std::logic_error("too large for the reference");
  };
  // One number, repeated: a large case that takes no memory.
  op.make_inputs = [](const Case&, Draw& draw) {
    return Inputs{{"x", draw.activations({1, 1}, 1).expand({1, kEigenElementsCpu + 1}), false},
                  {"weight", draw.weights({1}, at::kFloat), true}};
  };
  op.eager = [](const Case&, const Inputs& inputs) {
    return std::vector<at::Tensor>{inputs["weight"] * inputs["x"].narrow(1, 0, 1)};
  };
  const CaseTruth truth = find_truth(prepared(op));
  EXPECT_EQ(truth.kind, "eager_fp64");
  EXPECT_EQ(truth.outputs[0].scalar_type(), at::kDouble);
  EXPECT_FALSE(truth.outputs[0].requires_grad());
  EXPECT_EQ(truth.gradients[0].scalar_type(), at::kDouble);
}

TEST(FindTruthTest, NamesWhatTheReferenceDidNotGive) {
  Operator op = scaled_square();
  op.reference = [](const Case&, const Inputs& inputs, const std::vector<at::Tensor>&) {
    return Truth{{{"y", inputs["x"]}}, {{"x", inputs["x"]}}};
  };
  try {
    find_truth(prepared(op));
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_EQ(std::string(error.what()), "the reference gave no gradient of \"weight\"");
  }
}

std::string check(const Operator& op, const Case& c = scaled_square_case(4, 6)) {
  const PreparedCase p = prepared(op, c);
  return check_truth(p, find_truth(p));
}

// The reference with a change of its own.
Operator with_reference(const std::function<void(Truth&)>& change) {
  Operator op = scaled_square();
  op.reference = [original = op.reference, change](const Case& c, const Inputs& inputs,
                                                   const std::vector<at::Tensor>& upstream) {
    Truth truth = original(c, inputs, upstream);
    change(truth);
    return truth;
  };
  return op;
}

TEST(CheckTruthTest, AgreesOnARightOperator) {
  EXPECT_EQ(check(scaled_square()), "");
  EXPECT_EQ(check(scaled_square(), scaled_square_case(40, 60)), "");
  EXPECT_EQ(check(scaled_square(), scaled_square_case(0, 6)), "");
}

TEST(CheckTruthTest, AReferenceWhoseGradientIsNotThatOfItsForwardIsFoundByDifferences) {
  const std::string fault =
      check(with_reference([](Truth& truth) { truth.gradients[1].second.mul_(1.001); }));
  EXPECT_TRUE(fault.starts_with("the reference's gradient of weight is not that of its forward: "))
      << fault;
  EXPECT_NE(fault.find("discrepancy 0.00"), std::string::npos) << fault;
}

TEST(CheckTruthTest, AWrongGradientIsFoundWhereTheCaseIsTooLargeForDifferences) {
  const std::string fault =
      check(with_reference([](Truth& truth) { truth.gradients[0].second.mul_(1.001); }),
            scaled_square_case(40, 60));
  EXPECT_TRUE(fault.starts_with("reference and eager in double disagree on dx by 0.00")) << fault;
}

TEST(CheckTruthTest, AReferenceThatIsConsistentButAnotherFunctionDisagreesWithEager) {
  const std::string fault = check(with_reference([](Truth& truth) {
    truth.outputs[0].second.mul_(2);
    for (auto& [name, gradient] : truth.gradients) gradient.mul_(2);
  }));
  EXPECT_EQ(fault, "reference and eager in double disagree on y by 0.5");
}

TEST(CheckTruthTest, AnEagerThatDoesNotComputeInDoubleDisagrees) {
  Operator op = scaled_square();
  op.eager = [](const Case&, const Inputs& inputs) {
    const at::Tensor x = inputs["x"].to(at::kFloat);
    return std::vector<at::Tensor>{(inputs["weight"] * x * x).to(inputs["x"].scalar_type())};
  };
  const std::string fault = check(op);
  EXPECT_TRUE(fault.starts_with("reference and eager in double disagree on ")) << fault;
}

TEST(CheckTruthTest, OutputsAreFoundByNameWhateverTheirOrder) {
  Operator op = scaled_square();
  op.output_names = {"y", "twice"};
  op.eager = [](const Case&, const Inputs& inputs) {
    const at::Tensor y = inputs["weight"] * inputs["x"] * inputs["x"];
    return std::vector<at::Tensor>{y, 2 * y};
  };
  op.reference = [](const Case&, const Inputs& inputs, const std::vector<at::Tensor>& upstream) {
    const at::Tensor &x = inputs["x"], &weight = inputs["weight"];
    const at::Tensor y = weight * x * x, dy = upstream[0] + 2 * upstream[1];
    return Truth{{{"twice", 2 * y}, {"y", y}},
                 {{"weight", (dy * x * x).sum(0)}, {"x", 2 * weight * x * dy}}};
  };
  EXPECT_EQ(check(op), "");
}

TEST(ProgramTest, AnUnknownDispatcherOperatorIsNamed) {
  try {
    dispatcher_forward(scaled_square(), "tigon_test::scaled_square.no_such");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "no dispatcher operator \"tigon_test::scaled_square.no_such\" is registered");
  }
}

TEST(ProgramTest, LeavesShareMemoryWithTheInputsButNotTheirGraph) {
  const Operator op = scaled_square();
  const PreparedCase p = prepared(op);
  const Program program = fused_program(op, p.c, p.inputs);
  const std::vector<at::Tensor> outputs = program.forward();
  const std::vector<at::Tensor> gradients = program.backward(outputs, p.upstream);
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_FALSE(p.inputs["x"].requires_grad());
  EXPECT_FALSE(p.inputs["x"].grad().defined());
}

TEST(ProgramTest, ThereIsALibraryProgramOnlyWhereTheOperatorSaysSo) {
  Operator op = scaled_square();
  const PreparedCase p = prepared(op);
  EXPECT_FALSE(library_program(op, p.c, p.inputs).has_value());
  op.library = op.eager;
  op.has_library = [](const Case& c) { return c.integer("hidden") == 6; };
  EXPECT_TRUE(library_program(op, p.c, p.inputs).has_value());
  EXPECT_FALSE(library_program(op, scaled_square_case(4, 7), p.inputs).has_value());
}

}  // namespace
}  // namespace tigon::harness
