#include "harness/eigen_bridge.h"
#include "harness/verify/layout.h"
#include "reference/eager/swiglu.h"
#include "reference/eigen/swiglu.h"
#include "suites/shapes.h"
#include "suites/suites.h"

namespace tigon::suites {
namespace {

using namespace harness;  // NOLINT: a suite speaks the harness's language throughout

std::vector<AxisValue> point(int64_t rows, int64_t width) {
  return integer_point({{"rows", rows}, {"width", width}});
}

// The widths of training models' MLPs, at `rows` tokens.
std::vector<std::vector<AxisValue>> model_points(int64_t rows) {
  std::vector<std::vector<AxisValue>> points;
  for (const char* name : {"llama_3_2_1b", "llama_2_7b", "llama_3_8b", "llama_3_1_70b"}) {
    points.push_back(point(rows, model(name).intermediate));
  }
  return points;
}

std::vector<Sweep> sweeps() {
  std::vector<Sweep> all;
  for (const DeviceKind device : kEveryDevice) {
    const int64_t rows = device == DeviceKind::kCpu ? kTokensCpu : kTokensCuda;
    all.push_back({"models", {Preset::kDefault}, {device}, true,
                   model_points(rows), {}, kTrainingTypes, {"normal"}, {}});
    // The routed experts of a mixture see a part of the tokens each.
    const Model& mixture = model("qwen3_30b_a3b");
    all.push_back({"experts", {Preset::kDefault}, {device}, true,
                   {point(rows, mixture.experts->intermediate)}, {}, {DType::kBFloat16}, {"normal"}, {}});
    all.push_back({"fp16", {Preset::kFull}, {device}, true,
                   model_points(rows), {}, {DType::kFloat16}, {"normal"}, {}});
  }
  all.push_back({"smoke", {Preset::kSmoke}, kEveryDevice, true,
                 {point(64, 2816)}, {}, kTrainingTypes, {"normal"}, {}});

  const auto verify_only = [&](std::string name, Preset preset, std::vector<Axis> axes,
                               std::vector<std::string> profiles, std::vector<DType> dtypes) {
    all.push_back({std::move(name), {preset}, kEveryDevice, false, {}, std::move(axes),
                   std::move(dtypes), std::move(profiles), {}});
  };
  verify_only("tiny", Preset::kSmoke, {integer_axis("rows", {2}), integer_axis("width", {5})},
              {"normal", "integer"}, kAllTypes);
  verify_only("widths", Preset::kDefault, {integer_axis("rows", {3}), integer_axis("width", kHostileWidths)},
              {"normal"}, kAllTypes);
  verify_only("huge", Preset::kDefault, {integer_axis("rows", {2}), integer_axis("width", kHugeWidths)},
              {"normal"}, kTrainingTypes);
  verify_only("rows", Preset::kDefault, {integer_axis("rows", {0, 1, 2, 33, 257, 4099}),
              integer_axis("width", {72})}, {"normal"}, kAllTypes);
  verify_only("profiles", Preset::kSmoke, {integer_axis("rows", {5}), integer_axis("width", {136})},
              Draw::profiles(), kAllTypes);
  verify_only("layouts", Preset::kSmoke, {integer_axis("rows", {6}), integer_axis("width", {37, 64}),
              {"layout", layout_axis().values, {}, ""}}, {"normal"}, kAllTypes);
  return all;
}

Inputs make_inputs(const Case& c, Draw& draw) {
  const int64_t rows = c.integer("rows"), width = c.integer("width");
  // The gradients have products of three factors; a million leaves room for the upstream gradient.
  constexpr double kLimit = 1e15;
  return {{"a", draw.activations({rows, width}, kLimit), true},
          {"b", draw.activations({rows, width}, kLimit), true}};
}

std::vector<c10::IValue> arguments(const Case&, const Inputs& inputs) {
  return {inputs["a"], inputs["b"]};
}

std::vector<at::Tensor> eager_swiglu(const Case&, const Inputs& inputs) {
  return {eager::swiglu(inputs["a"], inputs["b"])};
}

Truth reference_swiglu(const Case&, const Inputs& inputs, const std::vector<at::Tensor>& upstream) {
  const reference::Matrix a = as_matrix(inputs["a"]), b = as_matrix(inputs["b"]);
  const auto gradients = reference::swiglu_backward(as_matrix(upstream[0]), a, b);
  return {{{"y", as_tensor(reference::swiglu(a, b), inputs["a"])}},
          {{"a", as_tensor(gradients.a, inputs["a"])}, {"b", as_tensor(gradients.b, inputs["b"])}}};
}

Cost cost(const Case& c) {
  const int64_t elements = c.integer("rows") * c.integer("width");
  const int64_t tensor = elements * element_size(c.dtype);
  return {{2 * tensor, tensor, 5 * elements}, {3 * tensor, 2 * tensor, 11 * elements}};
}

Claims claims(const Case&) { return {true, 0, 0}; }

}  // namespace

Operator swiglu() {
  Operator op;
  op.name = "swiglu";
  op.options = {layout_axis()};
  op.sweeps = sweeps();
  op.make_inputs = make_inputs;
  op.output_names = {"y"};
  op.fused = "tigon::swiglu";
  op.arguments = arguments;
  op.eager = eager_swiglu;
  op.reference = reference_swiglu;
  op.cost = cost;
  op.claims = claims;
  return op;
}

}  // namespace tigon::suites
