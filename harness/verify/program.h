// An implementation bound to the inputs of one case: what is run, verified and timed.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/operator.h"

namespace tigon::harness {

class Program {
 public:
  using Forward = std::function<std::vector<at::Tensor>(const Case&, const Inputs&)>;

  // The inputs that want a gradient become leaves of this program's own; they share their memory
  // with `inputs`.
  Program(std::string name, const Case& c, const Inputs& inputs, Forward forward);

  const std::string& name() const { return name_; }
  // Under grad mode, as in training.
  std::vector<at::Tensor> forward() const;
  // One gradient for each input that wants one, in their order; undefined where the implementation
  // gave none. The graph is freed.
  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& outputs,
                                   const std::vector<at::Tensor>& upstream) const;

 private:
  std::string name_;
  Case case_;
  Inputs inputs_;
  std::vector<at::Tensor> leaves_;
  Forward forward_;
};

// Calls the dispatcher operator `name` ("tigon::rms_norm", "tigon_mutants::rms_norm.no_eps").
// Throws std::invalid_argument when no such operator is registered.
Program::Forward dispatcher_forward(const Operator& op, const std::string& name);

Program fused_program(const Operator& op, const Case& c, const Inputs& inputs);
Program eager_program(const Operator& op, const Case& c, const Inputs& inputs);
// Empty where LibTorch has no fused operator for this case.
std::optional<Program> library_program(const Operator& op, const Case& c, const Inputs& inputs);

// The inputs with every floating-point tensor in double, on `device`, contiguous.
Inputs in_double(const Inputs& inputs, c10::Device device);

}  // namespace tigon::harness
