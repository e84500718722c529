#include "harness/memory/forwarding_cuda_allocator.h"

#include <stdexcept>

#include "harness/memory/wrapped_block.h"

namespace tigon::harness {

namespace caching = c10::cuda::CUDACachingAllocator;
using c10::DeviceIndex;
using c10::MempoolId_t;

c10::DataPtr ForwardingCudaAllocator::allocate(size_t nbytes) {
  return nbytes == 0 ? original().allocate(0) : on_allocate(nbytes);
}

c10::DataPtr ForwardingCudaAllocator::on_allocate(size_t nbytes) {
  return original().allocate(nbytes);
}

void* ForwardingCudaAllocator::raw_alloc(size_t nbytes) {
  void* ptr = original().raw_alloc(nbytes);
  if (ptr != nullptr) on_raw_alloc(ptr, nbytes);
  return ptr;
}

void* ForwardingCudaAllocator::raw_alloc_with_stream(size_t nbytes, cudaStream_t stream) {
  void* ptr = original().raw_alloc_with_stream(nbytes, stream);
  if (ptr != nullptr) on_raw_alloc(ptr, nbytes);
  return ptr;
}

void ForwardingCudaAllocator::raw_delete(void* ptr) {
  if (ptr != nullptr) on_raw_delete(ptr);
  original().raw_delete(ptr);
}

void ForwardingCudaAllocator::recordStream(const c10::DataPtr& ptr, c10::cuda::CUDAStream stream) {
  const c10::DataPtr* inner = inner_block(ptr);
  original().recordStream(inner != nullptr ? *inner : ptr, stream);
}

void ForwardingCudaAllocator::recordStream(const c10::DataPtr& ptr, c10::Stream stream) {
  recordStream(ptr, c10::cuda::CUDAStream(stream));
}

void ForwardingCudaAllocator::copy_data(void* dest, const void* src, size_t count) const {
  original().copy_data(dest, src, count);
}

bool ForwardingCudaAllocator::initialized() { return original().initialized(); }
void ForwardingCudaAllocator::emptyCache(MempoolId_t id) { original().emptyCache(id); }

c10::CachingDeviceAllocator::DeviceStats ForwardingCudaAllocator::getDeviceStats(
    DeviceIndex device) {
  return original().getDeviceStats(device);
}

void ForwardingCudaAllocator::resetAccumulatedStats(DeviceIndex device) {
  original().resetAccumulatedStats(device);
}

void ForwardingCudaAllocator::resetPeakStats(DeviceIndex device) {
  original().resetPeakStats(device);
}

std::pair<size_t, size_t> ForwardingCudaAllocator::getMemoryInfo(DeviceIndex device) {
  return original().getMemoryInfo(device);
}

void ForwardingCudaAllocator::init(int device_count) { original().init(device_count); }

double ForwardingCudaAllocator::getMemoryFraction(DeviceIndex device) {
  return original().getMemoryFraction(device);
}

void ForwardingCudaAllocator::setMemoryFraction(double fraction, DeviceIndex device) {
  original().setMemoryFraction(fraction, device);
}

std::vector<caching::StreamSegmentSize> ForwardingCudaAllocator::getExpandableSegmentSizes(
    DeviceIndex device) {
  return original().getExpandableSegmentSizes(device);
}

void ForwardingCudaAllocator::enable(bool value) { original().enable(value); }
bool ForwardingCudaAllocator::isEnabled() const { return original().isEnabled(); }

void ForwardingCudaAllocator::cacheInfo(DeviceIndex device, size_t* largest_block) {
  original().cacheInfo(device, largest_block);
}

void* ForwardingCudaAllocator::getBaseAllocation(void* ptr, size_t* size) {
  return original().getBaseAllocation(ptr, size);
}

caching::SnapshotInfo ForwardingCudaAllocator::snapshot(MempoolId_t id, bool include_traces) {
  return original().snapshot(id, include_traces);
}

void ForwardingCudaAllocator::beginAllocateToPool(DeviceIndex device, MempoolId_t id,
                                                  std::function<bool(cudaStream_t)> filter) {
  original().beginAllocateToPool(device, id, std::move(filter));
}

void ForwardingCudaAllocator::endAllocateToPool(DeviceIndex device, MempoolId_t id) {
  original().endAllocateToPool(device, id);
}

void ForwardingCudaAllocator::releasePool(DeviceIndex device, MempoolId_t id) {
  original().releasePool(device, id);
}

int ForwardingCudaAllocator::getPoolUseCount(DeviceIndex device, MempoolId_t id) {
  return original().getPoolUseCount(device, id);
}

void ForwardingCudaAllocator::createOrIncrefPool(DeviceIndex device, MempoolId_t id,
                                                 std::shared_ptr<CUDAAllocator> allocator) {
  original().createOrIncrefPool(device, id, std::move(allocator));
}

void ForwardingCudaAllocator::setUseOnOOM(DeviceIndex device, MempoolId_t id, bool use_on_oom) {
  original().setUseOnOOM(device, id, use_on_oom);
}

void ForwardingCudaAllocator::setNoSplit(DeviceIndex device, MempoolId_t id) {
  original().setNoSplit(device, id);
}

bool ForwardingCudaAllocator::checkPoolLiveAllocations(DeviceIndex device, MempoolId_t id,
                                                       const std::unordered_set<void*>& expected) {
  return original().checkPoolLiveAllocations(device, id, expected);
}

caching::ShareableHandle ForwardingCudaAllocator::shareIpcHandle(void* ptr) {
  return original().shareIpcHandle(ptr);
}

std::shared_ptr<void> ForwardingCudaAllocator::getIpcDevPtr(std::string handle) {
  return original().getIpcDevPtr(std::move(handle));
}

bool ForwardingCudaAllocator::isHistoryEnabled() { return original().isHistoryEnabled(); }

void ForwardingCudaAllocator::recordHistory(
    bool enabled, c10::CachingDeviceAllocator::CreateContextFn context_recorder, size_t max_entries,
    c10::CachingDeviceAllocator::RecordContext when, bool clear_history,
    const std::vector<std::string>& skip_actions) {
  original().recordHistory(enabled, context_recorder, max_entries, when, clear_history,
                           skip_actions);
}

void ForwardingCudaAllocator::recordAnnotation(
    const std::vector<std::pair<std::string, std::string>>& md) {
  original().recordAnnotation(md);
}

void ForwardingCudaAllocator::pushCompileContext(std::string& md) {
  original().pushCompileContext(md);
}

void ForwardingCudaAllocator::popCompileContext() { original().popCompileContext(); }

void ForwardingCudaAllocator::setUserMetadata(const std::string& metadata) {
  original().setUserMetadata(metadata);
}

std::string ForwardingCudaAllocator::getUserMetadata() { return original().getUserMetadata(); }

void ForwardingCudaAllocator::attachOutOfMemoryObserver(caching::OutOfMemoryObserver observer) {
  original().attachOutOfMemoryObserver(std::move(observer));
}

void ForwardingCudaAllocator::attachAllocatorTraceTracker(
    c10::CachingDeviceAllocator::AllocatorTraceTracker tracker) {
  original().attachAllocatorTraceTracker(std::move(tracker));
}

void ForwardingCudaAllocator::enablePeerAccess(DeviceIndex device, DeviceIndex other) {
  original().enablePeerAccess(device, other);
}

cudaError_t ForwardingCudaAllocator::memcpyAsync(void* dst, int dst_device, const void* src,
                                                 int src_device, size_t count, cudaStream_t stream,
                                                 bool p2p_enabled) {
  return original().memcpyAsync(dst, dst_device, src, src_device, count, stream, p2p_enabled);
}

std::shared_ptr<caching::AllocatorState> ForwardingCudaAllocator::getCheckpointState(
    DeviceIndex device, MempoolId_t id) {
  return original().getCheckpointState(device, id);
}

caching::CheckpointDelta ForwardingCudaAllocator::setCheckpointPoolState(
    DeviceIndex device, std::shared_ptr<caching::AllocatorState> state) {
  return original().setCheckpointPoolState(device, std::move(state));
}

std::string ForwardingCudaAllocator::name() { return original().name(); }

ForwardingCudaAllocator::CUDAAllocator& ForwardingCudaAllocator::original() const {
  return original_ != nullptr ? *original_ : *caching::get();
}

ScopedCudaAllocator::ScopedCudaAllocator(ForwardingCudaAllocator& allocator)
    : previous_(caching::get()) {
  if (previous_ == &allocator) {
    throw std::logic_error("ScopedCudaAllocator: this allocator is already installed");
  }
  allocator.original_ = previous_;
  // Two entries lead to the allocator: LibTorch's CUDA code uses the first, device-generic code the
  // second.
  caching::allocator.store(&allocator);
  c10::SetAllocator(c10::DeviceType::CUDA, &allocator);
}

ScopedCudaAllocator::~ScopedCudaAllocator() {
  caching::allocator.store(previous_);
  c10::SetAllocator(c10::DeviceType::CUDA, previous_);
}

}  // namespace tigon::harness
