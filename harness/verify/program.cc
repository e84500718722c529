#include "harness/verify/program.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/stack.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <stdexcept>
#include <utility>

namespace tigon::harness {

Program::Program(std::string name, const Case& c, const Inputs& inputs, Forward forward)
    : name_(std::move(name)), case_(c), inputs_(inputs), forward_(std::move(forward)) {
  for (Input& input : inputs_.all()) {
    input.tensor = input.tensor.detach();
    if (!input.wants_grad) continue;
    input.tensor.requires_grad_(true);
    leaves_.push_back(input.tensor);
  }
}

std::vector<at::Tensor> Program::forward() const {
  const at::AutoGradMode grad(true);
  return forward_(case_, inputs_);
}

std::vector<at::Tensor> Program::backward(const std::vector<at::Tensor>& outputs,
                                          const std::vector<at::Tensor>& upstream) const {
  return torch::autograd::grad(outputs, leaves_, upstream, /*retain_graph=*/false,
                               /*create_graph=*/false, /*allow_unused=*/true);
}

Program::Forward dispatcher_forward(const Operator& op, const std::string& name) {
  const size_t dot = name.find('.');
  const std::string base = name.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  const auto handle = c10::Dispatcher::singleton().findSchema({base, overload});
  if (!handle) {
    throw std::invalid_argument(fmt::format("no dispatcher operator \"{}\" is registered", name));
  }
  return [arguments = op.arguments, handle = *handle](const Case& c, const Inputs& inputs) {
    torch::jit::Stack stack = arguments(c, inputs);
    handle.callBoxed(stack);
    std::vector<at::Tensor> outputs;
    outputs.reserve(stack.size());
    for (c10::IValue& value : stack) outputs.push_back(std::move(value).toTensor());
    return outputs;
  };
}

Program fused_program(const Operator& op, const Case& c, const Inputs& inputs) {
  return {"fused", c, inputs, dispatcher_forward(op, op.fused)};
}

Program eager_program(const Operator& op, const Case& c, const Inputs& inputs) {
  return {"eager", c, inputs, op.eager};
}

std::optional<Program> library_program(const Operator& op, const Case& c, const Inputs& inputs) {
  if (!op.offers_library(c)) return std::nullopt;
  return Program("library", c, inputs, op.library);
}

Inputs in_double(const Inputs& inputs, c10::Device device) {
  Inputs result = inputs;
  for (Input& input : result.all()) {
    const at::Tensor moved = input.tensor.detach().to(device).contiguous();
    input.tensor = moved.is_floating_point() ? moved.to(at::kDouble) : moved;
  }
  return result;
}

}  // namespace tigon::harness
