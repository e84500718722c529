#include "harness/memory/forwarding_cpu_allocator.h"

#include <c10/core/CPUAllocator.h>

#include <stdexcept>

#include "harness/memory/wrapped_block.h"

namespace tigon::harness {

c10::DataPtr ForwardingCpuAllocator::allocate(size_t nbytes) {
  return nbytes == 0 ? original().allocate(0) : on_allocate(nbytes);
}

void ForwardingCpuAllocator::copy_data(void* dest, const void* src, size_t count) const {
  original().copy_data(dest, src, count);
}

c10::DeleterFnPtr ForwardingCpuAllocator::raw_deleter() const {
  return [](void* data) {
    if (!release_wrapped_block(data)) c10::GetDefaultCPUAllocator()->raw_deleter()(data);
  };
}

c10::DataPtr ForwardingCpuAllocator::on_allocate(size_t nbytes) {
  return original().allocate(nbytes);
}

c10::Allocator& ForwardingCpuAllocator::original() const {
  return original_ != nullptr ? *original_ : *c10::GetDefaultCPUAllocator();
}

ScopedCpuAllocator::ScopedCpuAllocator(ForwardingCpuAllocator& allocator)
    : previous_(c10::GetCPUAllocator()) {
  if (previous_ == &allocator) {
    throw std::logic_error("ScopedCpuAllocator: this allocator is already installed");
  }
  allocator.original_ = previous_;
  c10::SetCPUAllocator(&allocator);
}

ScopedCpuAllocator::~ScopedCpuAllocator() { c10::SetCPUAllocator(previous_); }

}  // namespace tigon::harness
