// A suite of operators that are broken on purpose, with the command line of every suite: what the
// harness says of them is what the tests here look at.
#include <string>

#include "harness/cli/cli.h"
#include "harness/operator.h"
#include "harness/verify/layout.h"
#include "tests/cheats.h"

namespace tigon::synthetic {
namespace {

using namespace harness;  // NOLINT: a suite speaks the harness's language throughout

const std::vector<DeviceKind> kCpuOnly = {DeviceKind::kCpu};

Sweep sweep(std::string name, bool timed, int64_t rows, std::vector<Axis> axes) {
  return {std::move(name),
          {Preset::kSmoke},
          kCpuOnly,
          timed,
          {integer_point({{"rows", rows}, {"width", 24}})},
          std::move(axes),
          {DType::kFloat32, DType::kBFloat16},
          {"normal"},
          {}};
}

// y = factor * x, `outputs` times.
Operator multiplication(const Cheat& cheat) {
  Operator op;
  op.name = cheat.name;
  op.options = {layout_axis()};
  // The timed sweep is the smaller, so that a run of all operators is short.
  if (cheat.timed) {
    op.sweeps = {sweep("timed", true, 4, {})};
  } else {
    op.sweeps = {sweep("verified", false, 4, {{"layout", {"contiguous", "strided"}, {}, ""}})};
  }
  op.make_inputs = [](const Case& c, Draw& draw) {
    return Inputs{{"x", draw.activations({c.integer("rows"), c.integer("width")}, 1e15), true}};
  };
  for (int i = 0; i < cheat.outputs; ++i) op.output_names.push_back("y" + std::to_string(i));
  op.fused = std::string("tigon_synthetic::") + cheat.name;
  op.arguments = [](const Case&, const Inputs& inputs) {
    return std::vector<c10::IValue>{inputs["x"]};
  };
  const double factor = cheat.factor;
  op.eager = [names = op.output_names, factor](const Case&, const Inputs& inputs) {
    std::vector<at::Tensor> outputs;
    for (size_t i = 0; i < names.size(); ++i) outputs.push_back(inputs["x"].mul(factor));
    return outputs;
  };
  op.reference = [names = op.output_names, factor](const Case&, const Inputs& inputs,
                                                   const std::vector<at::Tensor>& upstream) {
    Truth truth;
    at::Tensor dx;
    for (size_t i = 0; i < names.size(); ++i) {
      truth.outputs.emplace_back(names[i], inputs["x"].mul(factor));
      dx = dx.defined() ? dx.add(upstream[i], factor) : upstream[i].mul(factor);
    }
    truth.gradients.emplace_back("x", dx);
    return truth;
  };
  op.cost = [](const Case& c) {
    const int64_t bytes = c.integer("rows") * c.integer("width") * element_size(c.dtype);
    // No flops: the roof of those takes seconds to measure, in each worker anew.
    const PassCost pass{bytes, bytes, 0};
    return Cost{pass, pass};
  };
  // Workspace: LibTorch makes a tensor of each number that a tensor is multiplied by.
  op.claims = [](const Case&) { return Claims{true, 0, 64}; };
  return op;
}

std::vector<Operator> operators() {
  std::vector<Operator> all;
  for (const char* name : {"good", "segfaults", "aborts", "exits", "hangs", "exhausts_memory",
                           "wants_too_much", "throws"}) {
    all.push_back(multiplication({name, 2, 1, true}));
  }
  // Right, after all that are not; timed and verified alike. It has the mutants.
  Operator last = multiplication({"good", 2, 1, true});
  last.name = "good_at_the_end";
  last.sweeps.push_back(
      sweep("verified", false, 3, {{"layout", {"contiguous", "strided"}, {}, ""}}));
  all.push_back(std::move(last));
  for (const Cheat& cheat : cheats()) all.push_back(multiplication(cheat));
  return all;
}

}  // namespace
}  // namespace tigon::synthetic

int main(int argc, char** argv) {
  return tigon::harness::run_command_line(argc, argv, "synthetic", tigon::synthetic::operators());
}
