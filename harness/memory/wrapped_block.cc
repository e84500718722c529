#include "harness/memory/wrapped_block.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tigon::harness {
namespace {

struct Block {
  c10::DataPtr inner;
  std::function<void()> on_release;
};

// The blocks that are out, by the address that they show: LibTorch's raw_allocate takes an address
// for all that there is to know of a block. One that wraps another at the same address comes after
// it.
class Registry {
 public:
  void add(void* data, std::unique_ptr<Block> block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_[data].push_back(std::move(block));
  }

  // Null when there is none.
  std::unique_ptr<Block> take(void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(data);
    if (found == blocks_.end()) return nullptr;
    std::unique_ptr<Block> block = std::move(found->second.back());
    found->second.pop_back();
    if (found->second.empty()) blocks_.erase(found);
    return block;
  }

  const Block* find(void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(data);
    return found == blocks_.end() ? nullptr : found->second.back().get();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<void*, std::vector<std::unique_ptr<Block>>> blocks_;
};

// Never destroyed: blocks may be released when the process ends.
Registry& registry() {
  static auto* const registry = new Registry;
  return *registry;
}

void release_block(void* data) { release_wrapped_block(data); }

}  // namespace

c10::DataPtr wrap_block(c10::DataPtr inner, void* data, std::function<void()> on_release) {
  const c10::Device device = inner.device();
  registry().add(data, std::make_unique<Block>(Block{std::move(inner), std::move(on_release)}));
  return c10::DataPtr(data, data, &release_block, device);
}

const c10::DataPtr* inner_block(const c10::DataPtr& ptr) {
  if (ptr.get_deleter() != &release_block) return nullptr;
  return &registry().find(ptr.get())->inner;
}

bool release_wrapped_block(void* data) {
  const std::unique_ptr<Block> block = registry().take(data);
  if (block == nullptr) return false;
  if (block->on_release) block->on_release();
  return true;
}

}  // namespace tigon::harness
