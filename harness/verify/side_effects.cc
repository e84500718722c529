#include "harness/verify/side_effects.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include <utility>

#include "harness/verify/guard.h"

namespace tigon::harness {
namespace {

// All bytes of a tensor's storage, gaps included.
at::Tensor storage_bytes(const at::Tensor& tensor) {
  const at::Tensor none = at::empty({0}, tensor.options().dtype(at::kByte).requires_grad(false));
  return none.set_(tensor.storage(), 0, {static_cast<int64_t>(tensor.storage().nbytes())}, {1});
}

at::Tensor copy_with_storage(const at::Tensor& tensor) {
  const at::Tensor bytes = storage_bytes(tensor).clone();
  const at::Tensor none = at::empty({0}, tensor.options().requires_grad(false));
  return none.set_(bytes.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
}

struct Arguments {
  Inputs inputs;
  std::vector<at::Tensor> upstream;
};

Arguments copy_arguments(const PreparedCase& prepared) {
  Arguments copies{prepared.inputs, prepared.upstream};
  for (Input& input : copies.inputs.all()) input.tensor = copy_with_storage(input.tensor);
  for (at::Tensor& tensor : copies.upstream) tensor = copy_with_storage(tensor);
  return copies;
}

std::vector<std::pair<std::string, at::Tensor>> named_arguments(const PreparedCase& prepared,
                                                                const Arguments& arguments) {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const Input& input : arguments.inputs.all())
    all.emplace_back("input " + input.name, input.tensor);
  for (size_t i = 0; i < arguments.upstream.size(); ++i) {
    all.emplace_back("upstream gradient of " + prepared.op->output_names[i], arguments.upstream[i]);
  }
  return all;
}

std::string find_changed_argument(const PreparedCase& prepared, const Arguments& arguments) {
  const Arguments original{prepared.inputs, prepared.upstream};
  const auto before = named_arguments(prepared, original);
  const auto after = named_arguments(prepared, arguments);
  for (size_t i = 0; i < after.size(); ++i) {
    if (!at::equal(storage_bytes(before[i].second), storage_bytes(after[i].second))) {
      return fmt::format("{} was changed", after[i].first);
    }
  }
  return "";
}

std::string find_shared_memory(const PreparedCase& prepared, const Arguments& arguments,
                               const Run& run) {
  auto all = named_arguments(prepared, arguments);
  const size_t first_result = all.size();
  const std::vector<std::string> names = tensor_names(prepared);
  for (size_t i = 0; i < run.outputs.size(); ++i) all.emplace_back(names[i], run.outputs[i]);
  for (size_t i = 0; i < run.gradients.size(); ++i) {
    all.emplace_back(names[run.outputs.size() + i], run.gradients[i]);
  }
  for (size_t i = first_result; i < all.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const at::Tensor &a = all[k].second, &b = all[i].second;
      if (!a.defined() || !b.defined() || a.numel() == 0 || b.numel() == 0) continue;
      if (a.is_alias_of(b))
        return fmt::format("{} shares memory with {}", all[i].first, all[k].first);
    }
  }
  return "";
}

std::vector<at::Tensor> detached(std::vector<at::Tensor> tensors) {
  for (at::Tensor& tensor : tensors) {
    if (tensor.defined()) tensor = tensor.detach();
  }
  return tensors;
}

Run run_once(const Program& program, const std::vector<at::Tensor>& upstream) {
  Run run;
  run.outputs = program.forward();
  run.gradients = program.backward(run.outputs, upstream);
  run.outputs = detached(std::move(run.outputs));
  return run;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const auto integer = a.element_size() == 2   ? at::kShort
                       : a.element_size() == 4 ? at::kInt
                                               : at::kLong;
  return at::equal(a.contiguous().view(integer), b.contiguous().view(integer));
}

}  // namespace

Run run_guarded(const PreparedCase& prepared, const Program::Forward& forward, unsigned char fill) {
  GuardScope guard(prepared.device, fill);
  const Arguments arguments = copy_arguments(prepared);
  const Program program("fused", prepared.c, arguments.inputs, forward);
  Run run = run_once(program, arguments.upstream);
  run.fault = find_shared_memory(prepared, arguments, run);
  const std::vector<std::string> violations = guard.violations();
  if (run.fault.empty() && !violations.empty()) run.fault = violations.front();
  if (run.fault.empty()) run.fault = find_changed_argument(prepared, arguments);
  return run;
}

Run run_chained(const PreparedCase& prepared, const Program::Forward& forward) {
  const Arguments arguments = copy_arguments(prepared);
  // A product's backward makes a new tensor, which the engine hands to the operator's node alone.
  const Program program("fused", prepared.c, arguments.inputs,
                        [&forward](const Case& c, const Inputs& inputs) {
                          std::vector<at::Tensor> outputs = forward(c, inputs);
                          for (at::Tensor& output : outputs) output = output.mul(1);
                          return outputs;
                        });
  Run run = run_once(program, arguments.upstream);
  run.fault = find_changed_argument(prepared, arguments);
  return run;
}

Run run_on_side_stream(const PreparedCase& prepared, const Program::Forward& forward) {
  const Arguments arguments = copy_arguments(prepared);
  const Program program("fused", prepared.c, arguments.inputs, forward);
  c10::cuda::device_synchronize();
  // Work that keeps the default stream busy: what an operator leaves to it comes too late.
  at::Tensor busy = at::ones({int64_t{1} << 26}, prepared.inputs.all().front().tensor.options());
  for (int i = 0; i < 8; ++i) busy.add_(1);
  const c10::cuda::CUDAStreamGuard side(
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, prepared.device.index()));
  Run run = run_once(program, arguments.upstream);
  // Read on the side stream too, before the default stream is waited for.
  for (auto* tensors : {&run.outputs, &run.gradients}) {
    for (at::Tensor& tensor : *tensors) {
      if (tensor.defined()) tensor = tensor.clone();
    }
  }
  c10::cuda::device_synchronize();
  return run;
}

std::string first_difference(const std::vector<std::string>& names, const Run& a, const Run& b) {
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_output = i < a.outputs.size();
    const size_t k = is_output ? i : i - a.outputs.size();
    const at::Tensor& x = is_output ? a.outputs[k] : a.gradients[k];
    const at::Tensor& y = is_output ? b.outputs[k] : b.gradients[k];
    if (!same_bits(x, y)) return fmt::format("{} has other bits", names[i]);
  }
  return "";
}

}  // namespace tigon::harness
