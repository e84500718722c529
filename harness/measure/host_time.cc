#include "harness/measure/host_time.h"

#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd.h>

#include <chrono>

#include "harness/measure/synchronize.h"
#include "harness/stats/quantile.h"

namespace tigon::harness {
namespace {

double burst_us(c10::Device device, const Closure& call, int calls) {
  synchronize(device);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const auto stop = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::micro>(stop - start).count() / calls;
}

}  // namespace

HostTime measure_host_time(const Closure& step, const at::Tensor& x, const at::Tensor& w,
                           const HostTimeOptions& options) {
  TORCH_CHECK(options.bursts > 0 && options.calls > 0, "measure_host_time: bursts and calls are ",
              options.bursts, " and ", options.calls, ", want 1 or more");
  TORCH_CHECK(x.device() == w.device(), "measure_host_time: x is on ", x.device(), ", w on ",
              w.device());
  const c10::AutoGradMode gradients_on(true);
  const c10::Device device = x.device();
  const at::Tensor leaf_x = x.detach().requires_grad_(true);
  const at::Tensor leaf_w = w.detach().requires_grad_(true);
  const at::Tensor upstream = at::ones_like(at::mul(leaf_x, leaf_w).detach());
  const Closure multiply = [&] {
    const at::Tensor y = at::mul(leaf_x, leaf_w);
    torch::autograd::grad({y}, {leaf_x, leaf_w}, {upstream});
  };

  constexpr int kWarmUp = 3;
  std::vector<double> of_step;
  std::vector<double> of_multiply;
  for (int i = -kWarmUp; i < options.bursts; ++i) {
    const double step_us = burst_us(device, step, options.calls);
    const double multiply_us = burst_us(device, multiply, options.calls);
    if (i < 0) continue;
    of_step.push_back(step_us);
    of_multiply.push_back(multiply_us);
  }
  synchronize(device);
  return {median(of_step), median(of_multiply)};
}

}  // namespace tigon::harness
