// What the operators' tests share.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <exception>
#include <string>
#include <vector>

namespace tigon::operator_testing {

inline at::Tensor leaf(const at::Tensor& tensor) { return tensor.detach().requires_grad_(true); }

inline at::Tensor random(at::IntArrayRef shape, at::ScalarType dtype = at::kFloat) {
  return at::randn(shape).to(dtype);
}

// The gradients of `inputs` for the upstream gradient dy of y.
inline std::vector<at::Tensor> grad(const at::Tensor& y, const std::vector<at::Tensor>& inputs,
                                    const at::Tensor& dy, bool retain_graph = false,
                                    bool create_graph = false) {
  return torch::autograd::grad({y}, inputs, {dy}, retain_graph, create_graph);
}

// Autocast on the CPU, as LibTorch switches it on: by letting its dispatch key through. (The header
// that offers it wants many more.)
class CpuAutocast {
 public:
  CpuAutocast() { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, false); }
  ~CpuAutocast() { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, true); }
  CpuAutocast(const CpuAutocast&) = delete;
  CpuAutocast& operator=(const CpuAutocast&) = delete;
};

// The first line of what the call throws.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "no error";
}

inline testing::AssertionResult mentions(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" does not mention \"" << part << "\"";
}

}  // namespace tigon::operator_testing
