#include "harness/verify/guard.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/core/Allocator.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tigon::harness {
namespace {

using Found = std::vector<std::string>;

constexpr size_t kBytes = 400;

at::Tensor block() { return at::empty({kBytes / 4}, at::TensorOptions(at::kFloat)); }
unsigned char* bytes_of(const at::Tensor& t) {
  return static_cast<unsigned char*>(t.storage().mutable_data());
}

TEST(GuardTest, FreshMemoryIsNanInEveryFloatType) {
  GuardScope guard(at::kCPU, 0xFF);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor fresh = at::empty({7, 5}, at::TensorOptions(dtype));
    EXPECT_TRUE(at::isnan(fresh).all().item<bool>()) << dtype;
  }
}

TEST(GuardTest, FreshMemoryHoldsTheFill) {
  GuardScope guard(at::kCPU, 0x3C);
  const at::Tensor fresh = at::empty({1000}, at::TensorOptions(at::kByte));
  EXPECT_TRUE(fresh.eq(0x3C).all().item<bool>());
}

TEST(GuardTest, NothingIsReportedWhenOnlyTheBlocksAreWritten) {
  GuardScope guard(at::kCPU, 0xFF);
  at::Tensor kept = block();
  kept.fill_(1);
  block().fill_(2);
  at::empty({0}, at::TensorOptions(at::kFloat));
  EXPECT_EQ(guard.violations(), Found());
  EXPECT_GE(guard.blocks(), 2);
}

TEST(GuardTest, BlocksKeepTheirAlignment) {
  GuardScope guard(at::kCPU, 0xFF);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block().data_ptr()) % 64, 0u);
}

TEST(GuardTest, AWritePastABlockThatLivesIsReported) {
  GuardScope guard(at::kCPU, 0xFF);
  const at::Tensor t = block();
  bytes_of(t)[kBytes] = 0;
  bytes_of(t)[kBytes + 1] = 0;
  bytes_of(t)[kBytes + 1023] = 0;
  EXPECT_EQ(guard.violations(),
            Found{"3 of 1024 guard bytes after a block of 400 bytes were overwritten"});
}

TEST(GuardTest, AWriteBeforeABlockIsReported) {
  GuardScope guard(at::kCPU, 0xFF);
  const at::Tensor t = block();
  *(bytes_of(t) - 1) = 0;
  *(bytes_of(t) - 1024) = 0;
  EXPECT_EQ(guard.violations(),
            Found{"2 of 1024 guard bytes before a block of 400 bytes were overwritten"});
}

TEST(GuardTest, AWritePastABlockThatWasReleasedIsReported) {
  GuardScope guard(at::kCPU, 0xFF);
  {
    const at::Tensor t = block();
    bytes_of(t)[kBytes] = 0;
  }
  EXPECT_EQ(guard.violations(),
            Found{"1 of 1024 guard bytes after a block of 400 bytes were overwritten"});
}

TEST(GuardTest, BlocksMayOutliveTheScopeAndKeepTheirValues) {
  std::optional<at::Tensor> kept;
  {
    GuardScope guard(at::kCPU, 0xFF);
    kept = at::ones({1000});
  }
  const at::Tensor other = at::ones({1000});
  EXPECT_TRUE(at::equal(*kept, other));
  kept.reset();
}

TEST(GuardTest, BlocksFromBeforeTheScopeAreLeftAlone) {
  std::optional<at::Tensor> before = block();
  GuardScope guard(at::kCPU, 0xFF);
  before.reset();
  EXPECT_EQ(guard.violations(), Found());
}

TEST(GuardTest, TheAllocatorIsRestored) {
  const c10::Allocator* const original = c10::GetAllocator(at::kCPU);
  {
    GuardScope guard(at::kCPU, 0xFF);
    EXPECT_NE(c10::GetAllocator(at::kCPU), original);
  }
  EXPECT_EQ(c10::GetAllocator(at::kCPU), original);
}

TEST(GuardTest, ScopesDoNotShareTheirFindings) {
  {
    GuardScope guard(at::kCPU, 0xFF);
    const at::Tensor t = block();
    bytes_of(t)[kBytes] = 0;
    EXPECT_EQ(guard.violations().size(), 1u);
  }
  GuardScope guard(at::kCPU, 0x3C);
  const at::Tensor t = block();
  EXPECT_EQ(guard.violations(), Found());
  EXPECT_EQ(bytes_of(t)[0], 0x3C);
}

TEST(GuardTest, OperationsThatAllocateInsideWork) {
  GuardScope guard(at::kCPU, 0xFF);
  const at::Tensor a = at::ones({33, 70}).to(at::kBFloat16),
                   b = at::ones({70, 9}).to(at::kBFloat16);
  const at::Tensor product = at::matmul(a.t().contiguous().t(), b);
  EXPECT_TRUE(product.eq(70).all().item<bool>());
  EXPECT_EQ(guard.violations(), Found());
}

}  // namespace
}  // namespace tigon::harness
