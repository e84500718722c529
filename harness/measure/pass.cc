#include "harness/measure/pass.h"

#include <c10/core/GradMode.h>

#include <memory>
#include <utility>
#include <vector>

namespace tigon::harness {
namespace {

struct Held {
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> gradients;

  void clear() {
    gradients.clear();
    outputs.clear();
  }
};

}  // namespace

std::string_view to_string(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kBackward:
      return "backward";
    case Pass::kStep:
      return "step";
  }
  return "unknown";
}

Timed timed_pass(std::string name, Pass pass, ForwardFn forward, BackwardFn backward) {
  const auto held = std::make_shared<Held>();
  const Closure run_forward = [held, forward = std::move(forward)] {
    const c10::AutoGradMode gradients_on(true);
    held->outputs = forward();
  };
  const Closure run_backward = [held, backward = std::move(backward)] {
    const c10::AutoGradMode gradients_on(true);
    held->gradients = backward(held->outputs);
  };
  const Closure clear = [held] { held->clear(); };

  Timed timed{std::move(name), clear, run_forward, clear};
  if (pass == Pass::kBackward) {
    timed.prepare = [clear, run_forward] {
      clear();
      run_forward();
    };
    timed.run = run_backward;
  } else if (pass == Pass::kStep) {
    timed.run = [run_forward, run_backward] {
      run_forward();
      run_backward();
    };
  }
  return timed;
}

}  // namespace tigon::harness
