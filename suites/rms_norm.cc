#include <ATen/ops/rms_norm.h>

#include <cmath>
#include <limits>

#include "harness/eigen_bridge.h"
#include "harness/verify/layout.h"
#include "reference/eager/rms_norm.h"
#include "reference/eigen/rms_norm.h"
#include "suites/shapes.h"
#include "suites/suites.h"

namespace tigon::suites {
namespace {

using namespace harness;  // NOLINT: a suite speaks the harness's language throughout

constexpr double kEps = 1e-6;

double offset(const Case& c) { return static_cast<double>(c.integer("offset")); }

std::vector<AxisValue> point(int64_t rows, int64_t hidden) {
  return integer_point({{"rows", rows}, {"hidden", hidden}});
}

// The hidden sizes of training models, at `rows` tokens.
std::vector<std::vector<AxisValue>> model_points(int64_t rows) {
  std::vector<std::vector<AxisValue>> points;
  for (const char* name : {"llama_3_2_1b", "llama_3_8b", "qwen2_5_14b", "llama_3_1_70b"}) {
    points.push_back(point(rows, model(name).hidden));
  }
  return points;
}

// Gemma's way of norming (offset 1, fp32 to the end), and the norm of each head's queries.
std::vector<AxisValue> gemma_point(int64_t rows) {
  std::vector<AxisValue> gemma = point(rows, model("gemma_2_9b").hidden);
  gemma.push_back({"casting", "gemma"});
  gemma.push_back({"offset", "1"});
  return gemma;
}

std::vector<AxisValue> head_point(int64_t rows) {
  const Model& qwen = model("qwen3_8b");
  return point(rows * qwen.heads, qwen.head_dim);
}

std::vector<Sweep> sweeps() {
  std::vector<Sweep> all;
  std::vector<std::vector<AxisValue>> gpu = model_points(kTokensCuda);
  gpu.push_back(point(kTokensCuda, 16384));  // the widest models in training, 405 billion weights
  all.push_back({"models", {Preset::kDefault}, {DeviceKind::kCpu}, true,
                 model_points(kTokensCpu), {}, kTrainingTypes, {"normal"}, {}});
  all.push_back({"models", {Preset::kDefault}, {DeviceKind::kCuda}, true,
                 gpu, {}, kTrainingTypes, {"normal"}, {}});
  for (const DeviceKind device : kEveryDevice) {
    const int64_t rows = device == DeviceKind::kCpu ? kTokensCpu : kTokensCuda;
    all.push_back({"variants", {Preset::kDefault}, {device}, true,
                   {gemma_point(rows), head_point(rows)}, {}, {DType::kBFloat16}, {"normal"}, {}});
    all.push_back({"fp16", {Preset::kFull}, {device}, true,
                   model_points(rows), {}, {DType::kFloat16}, {"normal"}, {}});
  }
  all.push_back({"smoke", {Preset::kSmoke}, kEveryDevice, true,
                 {point(64, 1024)}, {}, kTrainingTypes, {"normal"}, {}});

  const auto verify_only = [&](std::string name, Preset preset, std::vector<Axis> axes,
                               std::vector<std::string> profiles, std::vector<DType> dtypes) {
    all.push_back({std::move(name), {preset}, kEveryDevice, false, {}, std::move(axes),
                   std::move(dtypes), std::move(profiles), {}});
  };
  verify_only("tiny", Preset::kSmoke, {integer_axis("rows", {2}), integer_axis("hidden", {5}),
              {"casting", {"llama", "gemma", "none"}, {}, ""}, {"offset", {"0", "1"}, {}, ""},
              {"weight", {"same", "fp32", "none"}, {}, ""}}, {"normal"}, kAllTypes);
  verify_only("widths", Preset::kDefault, {integer_axis("rows", {3}), integer_axis("hidden", kHostileWidths)},
              {"normal"}, kAllTypes);
  verify_only("huge", Preset::kDefault, {integer_axis("rows", {2}), integer_axis("hidden", kHugeWidths)},
              {"normal"}, kTrainingTypes);
  verify_only("rows", Preset::kDefault, {integer_axis("rows", {0, 1, 2, 33, 257, 4099}),
              integer_axis("hidden", {72})}, {"normal", "integer"}, kAllTypes);
  verify_only("profiles", Preset::kSmoke, {integer_axis("rows", {5}), integer_axis("hidden", {136})},
              Draw::profiles(), kAllTypes);
  verify_only("layouts", Preset::kSmoke, {integer_axis("rows", {6}), integer_axis("hidden", {37, 64}),
              {"layout", layout_axis().values, {}, ""}}, {"normal"}, kAllTypes);
  verify_only("options", Preset::kDefault, {integer_axis("rows", {7}), integer_axis("hidden", {96, 1030}),
              {"casting", {"llama", "gemma", "none"}, {}, ""}, {"offset", {"0", "1"}, {}, ""},
              {"weight", {"same", "fp32", "none"}, {}, ""}}, {"normal"}, kAllTypes);
  return all;
}

Inputs make_inputs(const Case& c, Draw& draw) {
  const int64_t rows = c.integer("rows"), hidden = c.integer("hidden");
  // The largest x for which the sum of squares of a row is finite in fp32.
  const double limit = 0.5 * std::sqrt(std::numeric_limits<float>::max() / static_cast<double>(hidden));
  Inputs inputs{{"x", draw.activations({rows, hidden}, limit), true}};
  const std::string& weight = c.text("weight");
  if (weight != "none") {
    const auto dtype = weight == "fp32" ? at::kFloat : scalar_type(c.dtype);
    inputs.add({"weight", draw.weights({hidden}, dtype).sub(offset(c)), true});
  }
  return inputs;
}

std::vector<c10::IValue> arguments(const Case& c, const Inputs& inputs) {
  return {inputs["x"], inputs.optional("weight"), kEps, offset(c), c.text("casting")};
}

std::vector<at::Tensor> eager_rms_norm(const Case& c, const Inputs& inputs) {
  return {eager::rms_norm(inputs["x"], inputs.optional("weight"), kEps, offset(c), c.text("casting"))};
}

// at::rms_norm adds nothing to the weight, takes one dtype and rounds once.
bool has_library(const Case& c) {
  return c.text("weight") != "fp32" && (offset(c) == 0 || c.text("weight") == "none");
}

std::vector<at::Tensor> library(const Case& c, const Inputs& inputs) {
  return {at::rms_norm(inputs["x"], {c.integer("hidden")}, inputs.optional("weight"), kEps)};
}

Truth reference_rms_norm(const Case& c, const Inputs& inputs, const std::vector<at::Tensor>& upstream) {
  const reference::Matrix x = as_matrix(inputs["x"]);
  const std::optional<reference::Vector> weight = as_vector(inputs.optional("weight"));
  const reference::Vector* w = weight ? &*weight : nullptr;
  const auto gradients =
      reference::rms_norm_backward(as_matrix(upstream[0]), x, w, kEps, offset(c));
  Truth truth{{{"y", as_tensor(reference::rms_norm(x, w, kEps, offset(c)), inputs["x"])}},
              {{"x", as_tensor(gradients.x, inputs["x"])}}};
  if (w) truth.gradients.emplace_back("weight", as_tensor(gradients.weight, inputs["weight"]));
  return truth;
}

Cost cost(const Case& c) {
  const int64_t elements = c.integer("rows") * c.integer("hidden");
  const int64_t tensor = elements * element_size(c.dtype);
  const std::string& kind = c.text("weight");
  const int64_t weight = kind == "none" ? 0
                         : c.integer("hidden") * (kind == "fp32" ? 4 : element_size(c.dtype));
  return {{tensor + weight, tensor, 4 * elements}, {2 * tensor + weight, tensor + weight, 9 * elements}};
}

Claims claims(const Case& c) {
  // One fp32 a row; fp32 partial sums of dweight, at most four blocks on each of a GPU's
  // multiprocessors (at most 160 so far).
  return {true, 4 * c.integer("rows"), 4 * 160 * 4 * c.integer("hidden")};
}

}  // namespace

Operator rms_norm() {
  Operator op;
  op.name = "rms_norm";
  op.options = {option_axis("casting", {"llama", "gemma", "none"}, "llama", "where results are rounded"),
                option_axis("offset", {"0", "1"}, "0", "added to the weight"),
                option_axis("weight", {"same", "fp32", "none"}, "same", "the weight's dtype"),
                layout_axis()};
  op.sweeps = sweeps();
  op.make_inputs = make_inputs;
  op.output_names = {"y"};
  op.fused = "tigon::rms_norm";
  op.arguments = arguments;
  op.eager = eager_rms_norm;
  op.library = library;
  op.has_library = has_library;
  op.reference = reference_rms_norm;
  op.cost = cost;
  op.claims = claims;
  return op;
}

}  // namespace tigon::suites
