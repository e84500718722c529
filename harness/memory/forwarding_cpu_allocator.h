// A CPU allocator that stands in front of LibTorch's own and sees every allocation.
#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>

namespace tigon::harness {

// Derive, override on_allocate, make one instance with static lifetime (LibTorch's storages
// remember the allocator that made them and may ask it again when they are resized) and install it
// with ScopedCpuAllocator.
class ForwardingCpuAllocator : public c10::Allocator {
 public:
  // Zero bytes go to the original allocator unseen: there is no block to guard or count.
  c10::DataPtr allocate(size_t nbytes) final;
  void copy_data(void* dest, const void* src, size_t count) const final;
  // LibTorch's matrix products take their scratch memory by raw_allocate.
  c10::DeleterFnPtr raw_deleter() const final;

 protected:
  // A block of at least `nbytes` > 0 usable bytes, aligned as the original's blocks are. Build it
  // from original().allocate() and wrap_block(). The default forwards.
  virtual c10::DataPtr on_allocate(size_t nbytes);

  // The allocator that was in place at the last installation.
  c10::Allocator& original() const;

 private:
  friend class ScopedCpuAllocator;
  c10::Allocator* original_ = nullptr;
};

// Installs the allocator for the scope's lifetime, for the whole process. Scopes must nest.
// Throws std::logic_error if the allocator is already installed.
class ScopedCpuAllocator {
 public:
  explicit ScopedCpuAllocator(ForwardingCpuAllocator& allocator);
  ~ScopedCpuAllocator();
  ScopedCpuAllocator(const ScopedCpuAllocator&) = delete;
  ScopedCpuAllocator& operator=(const ScopedCpuAllocator&) = delete;

 private:
  c10::Allocator* previous_;
};

}  // namespace tigon::harness
