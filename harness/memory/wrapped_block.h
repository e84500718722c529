// A block of memory that an installed allocator handed out around another allocator's block.
#pragma once

#include <c10/core/Allocator.h>

#include <functional>

namespace tigon::harness {

// A DataPtr that shows `data`, a pointer into the block of `inner`. Releasing it first calls
// `on_release`, while the inner block is still there, and then releases `inner`. Everything that
// the release needs travels with the block, so that it may outlive the allocator's installation.
// `on_release` must not throw: blocks are released in destructors.
c10::DataPtr wrap_block(c10::DataPtr inner, void* data, std::function<void()> on_release);

// The inner DataPtr of a wrapped one; null when `ptr` did not come from wrap_block.
const c10::DataPtr* inner_block(const c10::DataPtr& ptr);

// Releases the block that shows `data`, whose DataPtr was let go of without releasing it; false
// when there is none.
bool release_wrapped_block(void* data);

}  // namespace tigon::harness
