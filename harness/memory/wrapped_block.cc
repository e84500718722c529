#include "harness/memory/wrapped_block.h"

#include <memory>
#include <utility>

namespace tigon::harness {
namespace {

struct Block {
  c10::DataPtr inner;
  std::function<void()> on_release;
};

void release_block(void* context) {
  std::unique_ptr<Block> block(static_cast<Block*>(context));
  if (block->on_release) block->on_release();
}

}  // namespace

c10::DataPtr wrap_block(c10::DataPtr inner, void* data, std::function<void()> on_release) {
  const c10::Device device = inner.device();
  auto block = std::make_unique<Block>(Block{std::move(inner), std::move(on_release)});
  return c10::DataPtr(data, block.release(), &release_block, device);
}

const c10::DataPtr* inner_block(const c10::DataPtr& ptr) {
  if (ptr.get_deleter() != &release_block) return nullptr;
  return &static_cast<const Block*>(ptr.get_context())->inner;
}

}  // namespace tigon::harness
