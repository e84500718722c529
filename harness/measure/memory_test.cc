#include "harness/measure/memory.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <optional>

#include "harness/measure/allocation_log.h"

namespace tigon::harness {
namespace {

const c10::Device kCpu(c10::DeviceType::CPU);

at::Tensor bytes(int64_t n) { return at::empty({n}, at::kByte); }

TEST(AllocationLog, WorkspaceIsWhatComesAndGoesWithinThePass) {
  AllocationLog log;
  const auto resident = log.add(1000);
  log.begin_pass();
  const auto scratch = log.add(300);
  log.remove(scratch);
  const auto result = log.add(200);
  const auto more_scratch = log.add(250);
  log.remove(resident);  // of an earlier pass: neither workspace nor a negative one
  log.remove(more_scratch);
  EXPECT_EQ(log.pass_workspace_bytes(), 300);
  EXPECT_EQ(log.live_bytes(), 200);
  EXPECT_EQ(log.peak_bytes(), 1450);
  log.begin_pass();
  log.remove(result);
  EXPECT_EQ(log.pass_workspace_bytes(), 0);
  EXPECT_EQ(log.live_bytes(), 0);
}

TEST(MeasureMemory, CountsRequestedBytesNotBlocks) {
  // 4097 bytes is no multiple of any block size.
  const MemoryUse use = measure_memory(
      kCpu, [] { return std::vector<at::Tensor>{bytes(4097)}; }, nullptr);
  EXPECT_EQ(use.peak_bytes, 4097);
  EXPECT_EQ(use.saved_bytes, 0);
  EXPECT_EQ(use.workspace_bytes, 0);
}

TEST(MeasureMemory, SeesWorkspaceOfEachPassAndTheWarmCallDoesNotCount) {
  std::optional<at::Tensor> kept;  // as a cuBLAS workspace: allocated at the first call
  const auto forward = [&] {
    if (!kept) kept = bytes(1 << 20);
    const at::Tensor scratch = bytes(700);
    return std::vector<at::Tensor>{bytes(100)};
  };
  const auto backward = [](const std::vector<at::Tensor>&) {
    at::Tensor scratch = bytes(5000);
    scratch.reset();
    scratch = bytes(2000);
    return std::vector<at::Tensor>{bytes(60)};
  };
  const MemoryUse use = measure_memory(kCpu, forward, backward);
  EXPECT_EQ(use.workspace_bytes, 5000);
  EXPECT_EQ(use.peak_bytes, 100 + 5000);
  EXPECT_EQ(use.saved_bytes, 0);
}

class MeasureAutograd : public ::testing::Test {
 protected:
  std::vector<at::Tensor> differentiate(const std::vector<at::Tensor>& outputs) {
    return torch::autograd::grad(outputs, {x_}, {upstream_});
  }
  const at::Tensor x_ = at::ones({1000}).requires_grad_(true);
  const at::Tensor w_ = at::ones({1000});
  const at::Tensor upstream_ = at::ones({1000});
};

TEST_F(MeasureAutograd, SavedInputsAreFreeAndSavedResultsAreNot) {
  const auto backward = [this](const std::vector<at::Tensor>& o) { return differentiate(o); };
  const MemoryUse product = measure_memory(
      kCpu, [this] { return std::vector<at::Tensor>{at::mul(x_, w_)}; }, backward);
  EXPECT_EQ(product.saved_bytes, 0);
  EXPECT_EQ(product.workspace_bytes, 0);
  EXPECT_EQ(product.peak_bytes, 4000 + 4000);  // the product and the gradient

  // exp saves its result, and one that is the output of a further product is saved and no output.
  const MemoryUse exponential = measure_memory(
      kCpu, [this] { return std::vector<at::Tensor>{at::exp(x_)}; }, backward);
  EXPECT_EQ(exponential.saved_bytes, 4000);
  EXPECT_EQ(exponential.peak_bytes, 4000 + 4000);

  const MemoryUse chain = measure_memory(
      kCpu, [this] { return std::vector<at::Tensor>{at::mul(at::exp(x_), w_)}; }, backward);
  EXPECT_EQ(chain.saved_bytes, 4000);
  // The backward's gradient of the exponential comes and goes.
  EXPECT_EQ(chain.workspace_bytes, 4000);
  EXPECT_EQ(chain.peak_bytes, 4 * 4000);
}

TEST_F(MeasureAutograd, TensorsOutliveTheMeasurement) {
  at::Tensor kept;
  measure_memory(
      kCpu,
      [&] {
        kept = at::exp(x_);
        return std::vector<at::Tensor>{kept};
      },
      nullptr);
  EXPECT_FLOAT_EQ(kept.const_data_ptr<float>()[999], 2.7182818f);
  kept.detach().resize_({5000}).fill_(1.0);  // through the allocator that made it
  kept.reset();
}

TEST(MeasureMemory, AnExceptionTakesTheAllocatorAway) {
  int calls = 0;
  const auto throws_second = [&]() -> std::vector<at::Tensor> {
    if (++calls == 2) throw std::runtime_error("second");
    return {bytes(10)};
  };
  EXPECT_THROW(measure_memory(kCpu, throws_second, nullptr), std::runtime_error);
  EXPECT_EQ(measure_memory(kCpu, throws_second, nullptr).peak_bytes, 10);
}

}  // namespace
}  // namespace tigon::harness
