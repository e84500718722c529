#include "harness/verify/run.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <fmt/format.h>

namespace tigon::harness {
namespace {

// All bytes of a tensor's storage, gaps included.
at::Tensor storage_bytes(const at::Tensor& tensor) {
  const at::Tensor none = at::empty({0}, tensor.options().dtype(at::kByte).requires_grad(false));
  return none.set_(tensor.storage(), 0, {static_cast<int64_t>(tensor.storage().nbytes())}, {1});
}

at::Tensor copy_with_storage(const at::Tensor& tensor, int64_t shift) {
  const at::Tensor bytes = storage_bytes(tensor);
  const at::Tensor copy = at::empty({shift + bytes.numel()}, bytes.options());
  copy.narrow(0, shift, bytes.numel()).copy_(bytes);
  const at::Tensor none = at::empty({0}, tensor.options().requires_grad(false));
  return none.set_(copy.storage(), tensor.storage_offset() + shift / tensor.element_size(),
                   tensor.sizes(), tensor.strides());
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

std::vector<std::pair<std::string, at::Tensor>> Arguments::named(const Operator& op) const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const Input& input : inputs.all()) all.emplace_back("input " + input.name, input.tensor);
  for (size_t i = 0; i < upstream.size(); ++i) {
    all.emplace_back("upstream gradient of " + op.output_names[i], upstream[i]);
  }
  return all;
}

Arguments copy_arguments(const Arguments& arguments, int64_t shift) {
  Arguments copies = arguments;
  for (Input& input : copies.inputs.all()) input.tensor = copy_with_storage(input.tensor, shift);
  for (at::Tensor& tensor : copies.upstream) tensor = copy_with_storage(tensor, shift);
  return copies;
}

Arguments copy_arguments(const PreparedCase& prepared) {
  return copy_arguments(Arguments{prepared.inputs, prepared.upstream}, 0);
}

std::string find_changed_argument(const PreparedCase& prepared, const Arguments& arguments) {
  const auto before = Arguments{prepared.inputs, prepared.upstream}.named(*prepared.op);
  const auto after = arguments.named(*prepared.op);
  for (size_t i = 0; i < after.size(); ++i) {
    if (!at::equal(storage_bytes(before[i].second), storage_bytes(after[i].second))) {
      return fmt::format("{} was changed", after[i].first);
    }
  }
  return "";
}

Run run_once(const PreparedCase& prepared, const Arguments& arguments,
             const Program::Forward& forward) {
  const Program program("fused", prepared.c, arguments.inputs, forward);
  Run run;
  run.outputs = program.forward();
  run.gradients = program.backward(run.outputs, arguments.upstream);
  for (at::Tensor& output : run.outputs) {
    if (output.defined()) output = output.detach();
  }
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
