#include "reference/eager/swiglu.h"

#include "harness/eigen_bridge.h"
#include "harness/verify/layout.h"
#include "models/models.h"
#include "reference/eigen/swiglu.h"
#include "suites/suites.h"
#include "suites/sweeps.h"

namespace tigon::suites {
namespace {

using namespace harness;  // NOLINT: a suite speaks the harness's language throughout

Point point(int64_t rows, int64_t width) {
  return integer_point({{"rows", rows}, {"width", width}});
}

// The widths of training models' MLPs, at `rows` tokens.
std::vector<Point> model_points(int64_t rows) {
  std::vector<Point> points;
  for (const char* name : {"llama_3_2_1b", "llama_2_7b", "llama_3_8b", "llama_3_1_70b"}) {
    points.push_back(point(rows, model(name).intermediate));
  }
  return points;
}

std::vector<Sweep> sweeps() {
  std::vector<Sweep> all;
  for (const DeviceKind device : kEveryDevice) {
    const int64_t rows = tokens(device);
    all.push_back(timed("models", Preset::kDefault, device, model_points(rows), kTrainingTypes));
    // The routed experts of a mixture.
    const Point expert = point(rows, model("qwen3_30b_a3b").experts->intermediate);
    all.push_back(timed("experts", Preset::kDefault, device, {expert}, {DType::kBFloat16}));
    // A step of decoding or a small batch: launches are what counts.
    all.push_back(timed("few rows", Preset::kDefault, device,
                        {point(1, 14336), point(8, 14336), point(64, 14336)}, {DType::kBFloat16}));
    all.push_back(timed("fp16", Preset::kFull, device, model_points(rows), {DType::kFloat16}));
    all.push_back(timed("smoke", Preset::kSmoke, device, {point(64, 2816)}, kTrainingTypes));
  }
  for (Sweep& sweep : hostile_rows("width")) all.push_back(std::move(sweep));
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
          {{"a", as_tensor(gradients.a, inputs["a"])}, {"b", as_tensor(gradients.b, inputs["b"])}},
          {}};
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
