// What the harness sees of an operator: one struct, filled in by suites/<operator>.cc.
//
// The harness knows no operator by name. It expands the sweeps into cases, asks the operator for
// the inputs of a case, runs its implementations on them and judges their outputs and gradients
// against the operator's reference.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/sweep/axis.h"
#include "harness/sweep/case.h"
#include "harness/verify/draw.h"

namespace tigon::harness {

// Named tensors in a fixed order.
using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

struct Input {
  std::string name;
  at::Tensor tensor;
  bool wants_grad = false;
};

// The inputs of one case, already rounded to their dtype.
class Inputs {
 public:
  Inputs() = default;
  Inputs(std::initializer_list<Input> inputs) : inputs_(inputs) {}
  void add(Input input) { inputs_.push_back(std::move(input)); }
  bool has(std::string_view name) const;
  // Throws std::out_of_range that names the input and the known ones.
  const at::Tensor& operator[](std::string_view name) const;
  // The tensor, or an empty optional where the case has none: an argument of type Tensor?.
  std::optional<at::Tensor> optional(std::string_view name) const;

  std::vector<Input>& all() { return inputs_; }
  const std::vector<Input>& all() const { return inputs_; }

 private:
  std::vector<Input> inputs_;
};

// The reference's answer: every output, and the gradient of every input that wants one, in double
// on the CPU, under the names that the inputs and outputs have.
struct Truth {
  Tensors outputs;
  Tensors gradients;
  // For a gradient that cancels to far less than the terms it is a sum of, whatever the arithmetic:
  // the size of those terms. Its errors count against them. By the input's name; mostly empty.
  Tensors gradient_terms = {};
};

// The least that an operation must do, from its formula alone: every input read once, every result
// written once, nothing else.
struct PassCost {
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  int64_t flops = 0;
};
struct Cost {
  PassCost forward, backward;
};

// What the fused kernel promises; checked on every case.
struct Claims {
  bool deterministic = true;  // the same input gives the same bits
  // Upper bounds in bytes above the inputs, outputs and gradients themselves; -1: nothing promised.
  int64_t saved_bytes = -1;      // kept for the backward, beyond the inputs
  int64_t workspace_bytes = -1;  // allocated and freed within a pass
};

struct Operator {
  std::string name;
  // Axes that change the maths, each with a default value; a sweep that does not name one takes it.
  std::vector<Axis> options;
  std::vector<Sweep> sweeps;

  // Draws the inputs of a case. Every random number comes from `draw`.
  std::function<Inputs(const Case&, Draw&)> make_inputs;
  std::vector<std::string> output_names;

  // The product: the name of a dispatcher operator ("tigon::rms_norm"; a mutant is another name
  // with the same arguments) and its arguments for a case. Differentiable.
  std::string fused;
  std::function<std::vector<c10::IValue>(const Case&, const Inputs&)> arguments;
  // What a LibTorch user writes. Computes in double when the inputs are double.
  std::function<std::vector<at::Tensor>(const Case&, const Inputs&)> eager;
  // LibTorch's own fused operator, where it has one. `has_library` says for which cases.
  std::function<std::vector<at::Tensor>(const Case&, const Inputs&)> library;
  std::function<bool(const Case&)> has_library;
  // The proven truth, from inputs and upstream gradients in double on the CPU.
  std::function<Truth(const Case&, const Inputs&, const std::vector<at::Tensor>& upstream)>
      reference;

  // The coarsest dtype that the operation, by its definition, rounds to on the way (a casting
  // mode). Empty: fp32.
  std::function<DType(const Case&)> rounds_to;

  std::function<Cost(const Case&)> cost;
  std::function<Claims(const Case&)> claims;

  bool offers_library(const Case& c) const { return library && has_library && has_library(c); }
};

// Throws std::invalid_argument for a name that is not among them.
const Operator& find_operator(const std::vector<Operator>& operators, std::string_view name);

}  // namespace tigon::harness
