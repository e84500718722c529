// What the operators' autograd kernels share. A raw Node, rather than torch::autograd::Function,
// because it costs the host less per call.
#pragma once

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <memory>

namespace tigon {

// A node whose next edges lead to the inputs, in the order in which apply() returns gradients.
template <typename Node, typename... Inputs>
std::shared_ptr<Node> make_node(const Inputs&... inputs) {
  std::shared_ptr<Node> node(new Node(), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(inputs...));
  return node;
}

// Whether a gradient's buffer may be written over: nobody else holds the tensor or its storage, and
// it is plain memory (not a functional or fake tensor of a tracer). `gradient` must be the only
// reference that the caller has.
inline bool is_exclusive(const at::Tensor& gradient) {
  return gradient.use_count() == 1 && gradient.has_storage() &&
         gradient.storage().use_count() == 1 && gradient.is_contiguous() &&
         !gradient.requires_grad() && !gradient.unsafeGetTensorImpl()->is_python_dispatch() &&
         !gradient.key_set().has(c10::DispatchKey::Functionalize);
}

}  // namespace tigon
