#include "harness/verify/lanes.h"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/ones.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <limits>
#include <utility>

namespace tigon::harness {
namespace {

// Keeps every alignment that an allocator promises up to 256 bytes.
constexpr int64_t kShift = 256;

template <typename Function>
void for_each_result(Run& run, Function function) {
  for (auto* tensors : {&run.outputs, &run.gradients}) {
    for (at::Tensor& tensor : *tensors) {
      if (tensor.defined()) function(tensor);
    }
  }
}

c10::cuda::CUDAStream another_stream(c10::Device device) {
  return c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index());
}

Run run_chained(const PreparedCase& prepared, const Program::Forward& forward) {
  const Arguments arguments = copy_arguments(prepared);
  // A product's backward makes a new tensor, which the engine hands to the operator's node alone.
  Run run = run_once(prepared, arguments, [&forward](const Case& c, const Inputs& inputs) {
    std::vector<at::Tensor> outputs = forward(c, inputs);
    for (at::Tensor& output : outputs) output = output.mul(1);
    return outputs;
  });
  run.fault = find_changed_argument(prepared, arguments);
  return run;
}

Run run_on_side_stream(const PreparedCase& prepared, const Program::Forward& forward) {
  const Arguments arguments = copy_arguments(prepared);
  c10::cuda::device_synchronize();
  // Work that keeps the default stream busy: what an operator leaves to it comes too late.
  at::Tensor busy = at::ones({int64_t{1} << 26}, prepared.inputs.all().front().tensor.options());
  for (int i = 0; i < 8; ++i) busy.add_(1);
  const c10::cuda::CUDAStreamGuard side(another_stream(prepared.device));
  Run run = run_once(prepared, arguments, forward);
  // Read on the side stream too, before the default stream is waited for.
  for_each_result(run, [](at::Tensor& tensor) { tensor = tensor.clone(); });
  c10::cuda::device_synchronize();
  return run;
}

Run run_captured(const PreparedCase& prepared, const Program::Forward& forward) {
  const Arguments arguments = copy_arguments(prepared);
  c10::cuda::device_synchronize();
  const c10::cuda::CUDAStreamGuard side(another_stream(prepared.device));
  run_once(prepared, arguments, forward);  // what is set up once for all calls
  c10::cuda::device_synchronize();
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  Run run;
  try {
    run = run_once(prepared, arguments, forward);
  } catch (...) {
    try {
      graph.capture_end();
    } catch (...) {  // NOLINT: the first error says what happened
    }
    throw;
  }
  graph.capture_end();
  for_each_result(
      run, [](at::Tensor& tensor) { tensor.fill_(std::numeric_limits<double>::quiet_NaN()); });
  graph.replay();
  for_each_result(run, [](at::Tensor& tensor) { tensor = tensor.clone(); });
  c10::cuda::device_synchronize();
  return run;
}

Run run_beside_current_device(const PreparedCase& prepared, const Program::Forward& forward) {
  const Arguments arguments = copy_arguments(prepared);
  const auto other = static_cast<c10::DeviceIndex>(prepared.device.index() == 0 ? 1 : 0);
  const c10::cuda::CUDAGuard guard(other);
  Run run = run_once(prepared, arguments, forward);
  c10::cuda::device_synchronize();
  return run;
}

}  // namespace

std::vector<Lane> lanes_of(c10::Device device) {
  std::vector<Lane> lanes = {{"where nobody else holds the upstream gradient", run_chained}};
  if (!device.is_cuda()) return lanes;
  lanes.push_back({"on a side stream", run_on_side_stream});
  lanes.push_back({"replayed from a CUDA graph", run_captured});
  if (c10::cuda::device_count() > 1) {
    lanes.push_back({"while another device is current", run_beside_current_device});
  }
  return lanes;
}

std::string check_new_values_in_place(const PreparedCase& prepared,
                                      const Program::Forward& forward) {
  const Arguments arguments = copy_arguments(prepared);
  run_once(prepared, arguments, forward);
  for (const auto& [name, tensor] : arguments.named(*prepared.op)) {
    if (!tensor.is_floating_point() || tensor.numel() == 0) continue;
    // An expanded tensor's one row stands for all of them; exact in every dtype and profile.
    at::Tensor row = tensor.dim() > 0 && tensor.stride(0) == 0 ? tensor.select(0, 0) : tensor;
    row.neg_();
  }
  const Run in_place = run_once(prepared, arguments, forward);
  // At addresses where no argument has been before: those of earlier runs are remembered too.
  const Arguments elsewhere = copy_arguments(arguments, kShift);
  const Run fresh = run_once(prepared, elsewhere, forward);
  return first_difference(tensor_names(prepared), in_place, fresh);
}

}  // namespace tigon::harness
