#include "reference/eager/rms_norm.h"

#include <ATen/ops/rms_norm.h>

#include <cmath>
#include <limits>

#include "harness/eigen_bridge.h"
#include "harness/verify/layout.h"
#include "models/models.h"
#include "reference/eigen/rms_norm.h"
#include "suites/suites.h"
#include "suites/sweeps.h"

namespace tigon::suites {
namespace {

using namespace harness;  // NOLINT: a suite speaks the harness's language throughout

constexpr double kEps = 1e-6;

double offset(const Case& c) { return static_cast<double>(c.integer("offset")); }

Point point(int64_t rows, int64_t hidden) {
  return integer_point({{"rows", rows}, {"hidden", hidden}});
}

// The hidden sizes of training models, at `rows` tokens.
std::vector<Point> model_points(int64_t rows) {
  std::vector<Point> points;
  for (const char* name : {"llama_3_2_1b", "llama_3_8b", "qwen2_5_14b", "llama_3_1_70b"}) {
    points.push_back(point(rows, model(name).hidden));
  }
  return points;
}

// Gemma's way of norming (offset 1, fp32 to the end), and the norm of each head's queries.
std::vector<Point> variant_points(int64_t rows) {
  Point gemma = point(rows, model("gemma_2_9b").hidden);
  gemma.push_back({"casting", "gemma"});
  gemma.push_back({"offset", "1"});
  const Model& qwen = model("qwen3_8b");
  return {gemma, point(rows * qwen.heads, qwen.head_dim)};
}

std::vector<Sweep> sweeps() {
  std::vector<Sweep> all;
  for (const DeviceKind device : kEveryDevice) {
    const int64_t rows = tokens(device);
    std::vector<Point> models = model_points(rows);
    // The widest models in training, 405 billion weights.
    if (device == DeviceKind::kCuda) models.push_back(point(rows, 16384));
    all.push_back(timed("models", Preset::kDefault, device, models, kTrainingTypes));
    all.push_back(
        timed("variants", Preset::kDefault, device, variant_points(rows), {DType::kBFloat16}));
    // A step of decoding or a small batch: launches are what counts.
    all.push_back(timed("few rows", Preset::kDefault, device,
                        {point(1, 4096), point(8, 4096), point(64, 4096)}, {DType::kBFloat16}));
    all.push_back(timed("fp16", Preset::kFull, device, model_points(rows), {DType::kFloat16}));
    all.push_back(timed("smoke", Preset::kSmoke, device, {point(64, 1024)}, kTrainingTypes));
  }
  for (Sweep& sweep : hostile_rows("hidden")) all.push_back(std::move(sweep));
  all.push_back(verified("options", Preset::kSmoke,
                         {integer_axis("rows", {7}),
                          integer_axis("hidden", {5, 1030}),
                          {"casting", {"llama", "gemma", "none"}, {}, ""},
                          {"offset", {"0", "1"}, {}, ""},
                          {"weight", {"same", "fp32", "none"}, {}, ""}},
                         {"normal"}, kAllTypes));
  return all;
}

Inputs make_inputs(const Case& c, Draw& draw) {
  const int64_t rows = c.integer("rows"), hidden = c.integer("hidden");
  // The largest x for which the sum of squares of a row is finite in fp32.
  const double limit =
      0.5 * std::sqrt(std::numeric_limits<float>::max() / static_cast<double>(hidden));
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
  return {
      eager::rms_norm(inputs["x"], inputs.optional("weight"), kEps, offset(c), c.text("casting"))};
}

// at::rms_norm adds nothing to the weight, takes one dtype and rounds once.
bool has_library(const Case& c) {
  return c.text("weight") != "fp32" && (offset(c) == 0 || c.text("weight") == "none");
}

std::vector<at::Tensor> library(const Case& c, const Inputs& inputs) {
  return {at::rms_norm(inputs["x"], {c.integer("hidden")}, inputs.optional("weight"), kEps)};
}

Truth reference_rms_norm(const Case& c, const Inputs& inputs,
                         const std::vector<at::Tensor>& upstream) {
  const reference::Matrix x = as_matrix(inputs["x"]);
  const std::optional<reference::Vector> weight = as_vector(inputs.optional("weight"));
  const reference::Vector* w = weight ? &*weight : nullptr;
  const reference::Matrix dy = as_matrix(upstream[0]);
  const auto gradients = reference::rms_norm_backward(dy, x, w, kEps, offset(c));
  Truth truth{{{"y", as_tensor(reference::rms_norm(x, w, kEps, offset(c)), inputs["x"])}},
              {{"x", as_tensor(gradients.x, inputs["x"])}},
              {}};
  const reference::Vector r = (x.array().square().rowwise().mean() + kEps).rsqrt();
  if (x.cols() == 1) {
    // y is the sign of x: dx = r m (1 - x^2 r^2) cancels to eps / (x^2 + eps) of r m.
    const double factor = w ? std::abs(offset(c) + (*w)(0)) : 1;
    const reference::Matrix terms = factor * (r.asDiagonal() * dy.cwiseAbs());
    truth.gradient_terms.emplace_back("x", as_tensor(terms, inputs["x"]));
  }
  if (w) {
    // A sum over rows may cancel where few rows, or one huge column, leave it no RMS to go by.
    const reference::Vector terms =
        (r.asDiagonal() * dy.cwiseProduct(x)).colwise().norm().transpose();
    truth.gradient_terms.emplace_back("weight", as_tensor(terms, inputs["weight"]));
  }
  if (w) truth.gradients.emplace_back("weight", as_tensor(gradients.weight, inputs["weight"]));
  return truth;
}

// llama rounds x * rstd, none rounds rstd, to x's dtype.
DType rounds_to(const Case& c) { return c.text("casting") == "gemma" ? DType::kFloat32 : c.dtype; }

Cost cost(const Case& c) {
  const int64_t elements = c.integer("rows") * c.integer("hidden");
  const int64_t tensor = elements * element_size(c.dtype);
  const std::string& kind = c.text("weight");
  const int64_t weight =
      kind == "none" ? 0 : c.integer("hidden") * (kind == "fp32" ? 4 : element_size(c.dtype));
  return {{tensor + weight, tensor, 4 * elements},
          {2 * tensor + weight, tensor + weight, 9 * elements}};
}

Claims claims(const Case& c) {
  // One fp32 a row. fp32 partial sums of dweight: on a GPU one row of them a block, at most eight
  // blocks a multiprocessor (of which there are at most 160 so far), and their alignment.
  constexpr int64_t kBlocks = 8 * 160;
  return {true, 4 * c.integer("rows"), 4 * kBlocks * c.integer("hidden") + 16};
}

}  // namespace

Operator rms_norm() {
  Operator op;
  op.name = "rms_norm";
  op.options = {
      option_axis("casting", {"llama", "gemma", "none"}, "llama", "where results are rounded"),
      option_axis("offset", {"0", "1"}, "0", "added to the weight"),
      option_axis("weight", {"same", "fp32", "none"}, "same", "the weight's dtype"), layout_axis()};
  op.sweeps = sweeps();
  op.make_inputs = make_inputs;
  op.output_names = {"y"};
  op.fused = "tigon::rms_norm";
  op.arguments = arguments;
  op.eager = eager_rms_norm;
  op.library = library;
  op.has_library = has_library;
  op.reference = reference_rms_norm;
  op.rounds_to = rounds_to;
  op.cost = cost;
  op.claims = claims;
  return op;
}

}  // namespace tigon::suites
