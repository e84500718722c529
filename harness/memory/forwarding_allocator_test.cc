#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/memory/forwarding_cpu_allocator.h"
#include "harness/memory/forwarding_cuda_allocator.h"
#include "harness/memory/wrapped_block.h"

namespace tigon::harness {
namespace {

// Puts 64 bytes in front of each block.
class ShiftingAllocator final : public ForwardingCpuAllocator {
 public:
  int allocated = 0;
  int released = 0;

 private:
  c10::DataPtr on_allocate(size_t nbytes) override {
    ++allocated;
    c10::DataPtr inner = original().allocate(nbytes + 64);
    char* front = static_cast<char*>(inner.get());
    std::memset(front, 0x5a, 64);
    return wrap_block(std::move(inner), front + 64, [this, front] {
      EXPECT_EQ(front[63], 0x5a);  // the inner block is still there
      ++released;
    });
  }
};

class PlainAllocator final : public ForwardingCpuAllocator {};

class ForwardingAllocator final : public ForwardingCudaAllocator {};

TEST(ForwardingCpuAllocator, SeesAllocationsInItsScopeAndReleasesAfterIt) {
  static auto* allocator = new ShiftingAllocator();
  c10::Allocator* const before = c10::GetCPUAllocator();
  at::Tensor kept;
  {
    const ScopedCpuAllocator scope(*allocator);
    EXPECT_THROW(ScopedCpuAllocator again(*allocator), std::logic_error);
    kept = at::empty({100}, at::kFloat).fill_(3.0);
    at::empty({10}, at::kFloat);
    at::empty({0}, at::kFloat);
    EXPECT_EQ(allocator->allocated, 2);
    EXPECT_EQ(allocator->released, 1);
    ASSERT_NE(inner_block(kept.storage().data_ptr()), nullptr);
  }
  EXPECT_EQ(c10::GetCPUAllocator(), before);
  const at::Tensor outside = at::empty({10}, at::kFloat);
  EXPECT_EQ(allocator->allocated, 2);
  EXPECT_EQ(inner_block(outside.storage().data_ptr()), nullptr);
  EXPECT_EQ(kept.const_data_ptr<float>()[99], 3.0f);
  kept.reset();
  EXPECT_EQ(allocator->released, 2);
}

TEST(ForwardingCpuAllocator, RawBlocksAreSeenToo) {
  static auto* allocator = new ShiftingAllocator();
  const ScopedCpuAllocator scope(*allocator);
  void* const raw = allocator->raw_allocate(100);
  std::memset(raw, 1, 100);
  EXPECT_EQ(allocator->allocated, 1);
  EXPECT_EQ(allocator->released, 0);
  allocator->raw_deallocate(raw);
  EXPECT_EQ(allocator->released, 1);
  // One that is only passed on.
  static auto* plain = new PlainAllocator();
  const ScopedCpuAllocator plain_scope(*plain);
  plain->raw_deallocate(plain->raw_allocate(100));
  EXPECT_EQ(allocator->released, 2);
}

// Several wrappings of one block at one address are undone from the outside in.
TEST(WrappedBlock, WrapsMayShareAnAddress) {
  std::string order;
  c10::DataPtr block = c10::GetDefaultCPUAllocator()->allocate(64);
  void* const data = block.get();
  block = wrap_block(std::move(block), data, [&order] { order += "inner "; });
  block = wrap_block(std::move(block), data, [&order] { order += "outer "; });
  EXPECT_EQ(inner_block(block)->get(), data);
  block.clear();
  EXPECT_EQ(order, "outer inner ");
  EXPECT_FALSE(release_wrapped_block(data));
}

TEST(ForwardingCpuAllocator, ScopesNest) {
  static auto* outer = new ShiftingAllocator();
  static auto* inner = new ShiftingAllocator();
  const ScopedCpuAllocator outer_scope(*outer);
  {
    const ScopedCpuAllocator inner_scope(*inner);
    at::empty({10}, at::kFloat);
  }
  at::empty({10}, at::kFloat);
  EXPECT_EQ(inner->allocated, 1);
  EXPECT_EQ(inner->released, 1);
  EXPECT_EQ(outer->allocated, 2);
  EXPECT_EQ(outer->released, 2);
}

TEST(ForwardingCudaAllocator, IsInstalledAndTakenAwayWithoutADevice) {
  static auto* allocator = new ForwardingAllocator();
  auto* const before = c10::cuda::CUDACachingAllocator::get();
  {
    const ScopedCudaAllocator scope(*allocator);
    EXPECT_EQ(c10::cuda::CUDACachingAllocator::get(), allocator);
    EXPECT_EQ(c10::GetAllocator(c10::DeviceType::CUDA), allocator);
    EXPECT_EQ(c10::cuda::CUDACachingAllocator::name(), before->name());
    EXPECT_THROW(ScopedCudaAllocator again(*allocator), std::logic_error);
  }
  EXPECT_EQ(c10::cuda::CUDACachingAllocator::get(), before);
  EXPECT_EQ(c10::GetAllocator(c10::DeviceType::CUDA), before);
}

}  // namespace
}  // namespace tigon::harness
