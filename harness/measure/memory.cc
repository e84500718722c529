#include "harness/measure/memory.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "harness/measure/allocation_log.h"
#include "harness/measure/synchronize.h"
#include "harness/memory/forwarding_cpu_allocator.h"
#include "harness/memory/forwarding_cuda_allocator.h"
#include "harness/memory/wrapped_block.h"

namespace tigon::harness {
namespace {

// The log that new blocks are written to. Each block keeps its log alive, so a block may outlive
// the measurement that saw it made.
std::shared_ptr<AllocationLog>& current_log() {
  static auto* log = new std::shared_ptr<AllocationLog>();
  return *log;
}

c10::DataPtr logged(c10::DataPtr inner, size_t nbytes) {
  const std::shared_ptr<AllocationLog> log = current_log();
  if (log == nullptr) return inner;  // a storage of an earlier measurement is being resized
  const int64_t block = log->add(static_cast<int64_t>(nbytes));
  void* data = inner.get();
  return wrap_block(std::move(inner), data, [log, block] { log->remove(block); });
}

class CountingCpuAllocator final : public ForwardingCpuAllocator {
  c10::DataPtr on_allocate(size_t nbytes) override {
    return logged(original().allocate(nbytes), nbytes);
  }
};

class CountingCudaAllocator final : public ForwardingCudaAllocator {
  c10::DataPtr on_allocate(size_t nbytes) override {
    return logged(original().allocate(nbytes), nbytes);
  }
};

// Counts the device's allocations while it lives.
class Counting {
 public:
  explicit Counting(c10::Device device) : log_(std::make_shared<AllocationLog>()) {
    TORCH_CHECK(current_log() == nullptr, "measure_memory: called within itself");
    // Never destroyed: storages remember the allocator that made them.
    if (device.is_cuda()) {
      static auto* allocator = new CountingCudaAllocator();
      cuda_.emplace(*allocator);
    } else {
      static auto* allocator = new CountingCpuAllocator();
      cpu_.emplace(*allocator);
    }
    current_log() = log_;
  }
  ~Counting() { current_log() = nullptr; }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  AllocationLog& log() { return *log_; }

 private:
  std::shared_ptr<AllocationLog> log_;
  std::optional<ScopedCpuAllocator> cpu_;
  std::optional<ScopedCudaAllocator> cuda_;
};

int64_t measure_saved(c10::Device device, const ForwardFn& forward) {
  Counting counting(device);
  std::vector<std::shared_ptr<torch::autograd::Node>> graph;
  {
    const std::vector<at::Tensor> outputs = forward();
    for (const at::Tensor& output : outputs) {
      if (output.defined()) graph.push_back(output.grad_fn());
    }
  }
  synchronize(device);
  return counting.log().live_bytes();
}

}  // namespace

MemoryUse measure_memory(c10::Device device, const ForwardFn& forward, const BackwardFn& backward) {
  TORCH_CHECK(device.is_cpu() || device.is_cuda(), "measure_memory: device is ", device,
              ", want cpu or cuda");
  {
    const std::vector<at::Tensor> outputs = forward();
    if (backward) backward(outputs);
  }
  synchronize(device);

  MemoryUse use;
  use.saved_bytes = measure_saved(device, forward);

  Counting counting(device);
  AllocationLog& log = counting.log();
  log.begin_pass();
  const std::vector<at::Tensor> outputs = forward();
  synchronize(device);
  use.workspace_bytes = log.pass_workspace_bytes();
  if (backward) {
    log.begin_pass();
    const std::vector<at::Tensor> gradients = backward(outputs);
    synchronize(device);
    use.workspace_bytes = std::max(use.workspace_bytes, log.pass_workspace_bytes());
  }
  use.peak_bytes = log.peak_bytes();
  return use;
}

}  // namespace tigon::harness
