#include "harness/operator.h"

#include <fmt/format.h>

#include <stdexcept>

namespace tigon::harness {
namespace {

const Input* find(const std::vector<Input>& inputs, std::string_view name) {
  for (const Input& input : inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

}  // namespace

bool Inputs::has(std::string_view name) const { return find(inputs_, name) != nullptr; }

const at::Tensor& Inputs::operator[](std::string_view name) const {
  if (const Input* input = find(inputs_, name)) return input->tensor;
  std::string known;
  for (const Input& input : inputs_) known += (known.empty() ? "" : ", ") + input.name;
  throw std::out_of_range(fmt::format("no input \"{}\"; the case has {}", name, known));
}

const Operator& find_operator(const std::vector<Operator>& operators, std::string_view name) {
  for (const Operator& op : operators) {
    if (op.name == name) return op;
  }
  throw std::invalid_argument(fmt::format("no operator \"{}\"", name));
}

std::optional<at::Tensor> Inputs::optional(std::string_view name) const {
  const Input* input = find(inputs_, name);
  return input ? std::optional(input->tensor) : std::nullopt;
}

}  // namespace tigon::harness
