// A CUDA allocator that stands in front of LibTorch's caching allocator and sees every allocation.
//
// Including this header or linking its library starts no CUDA; installing an allocator is harmless
// without a GPU too, for nothing then allocates.
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tigon::harness {

// Derive, override the hooks, make one instance with static lifetime (LibTorch's storages remember
// the allocator that made them) and install it with ScopedCudaAllocator. Everything but allocation
// is forwarded: pools and graph capture, statistics, snapshots, peer access.
class ForwardingCudaAllocator : public c10::cuda::CUDACachingAllocator::CUDAAllocator {
 public:
  using CUDAAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;

  // Zero bytes go to the original allocator unseen.
  c10::DataPtr allocate(size_t nbytes) final;
  void* raw_alloc(size_t nbytes) final;
  void* raw_alloc_with_stream(size_t nbytes, cudaStream_t stream) final;
  void raw_delete(void* ptr) final;
  // A block of ours is forwarded as the block that the original handed out, which it recognises.
  void recordStream(const c10::DataPtr& ptr, c10::cuda::CUDAStream stream) final;
  void recordStream(const c10::DataPtr& ptr, c10::Stream stream) final;

  void copy_data(void* dest, const void* src, size_t count) const final;
  bool initialized() final;
  void emptyCache(c10::MempoolId_t mempool_id) final;
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) final;
  void resetAccumulatedStats(c10::DeviceIndex device) final;
  void resetPeakStats(c10::DeviceIndex device) final;
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) final;

  void init(int device_count) final;
  double getMemoryFraction(c10::DeviceIndex device) final;
  void setMemoryFraction(double fraction, c10::DeviceIndex device) final;
  std::vector<c10::cuda::CUDACachingAllocator::StreamSegmentSize> getExpandableSegmentSizes(
      c10::DeviceIndex device) final;
  void enable(bool value) final;
  bool isEnabled() const final;
  void cacheInfo(c10::DeviceIndex device, size_t* largest_block) final;
  void* getBaseAllocation(void* ptr, size_t* size) final;
  c10::cuda::CUDACachingAllocator::SnapshotInfo snapshot(c10::MempoolId_t mempool_id,
                                                         bool include_traces) final;
  void beginAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id,
                           std::function<bool(cudaStream_t)> filter) final;
  void endAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) final;
  void releasePool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) final;
  int getPoolUseCount(c10::DeviceIndex device, c10::MempoolId_t mempool_id) final;
  void createOrIncrefPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id,
                          std::shared_ptr<CUDAAllocator> allocator) final;
  void setUseOnOOM(c10::DeviceIndex device, c10::MempoolId_t mempool_id, bool use_on_oom) final;
  void setNoSplit(c10::DeviceIndex device, c10::MempoolId_t mempool_id) final;
  bool checkPoolLiveAllocations(c10::DeviceIndex device, c10::MempoolId_t mempool_id,
                                const std::unordered_set<void*>& expected) final;
  c10::cuda::CUDACachingAllocator::ShareableHandle shareIpcHandle(void* ptr) final;
  std::shared_ptr<void> getIpcDevPtr(std::string handle) final;
  bool isHistoryEnabled() final;
  void recordHistory(bool enabled, c10::CachingDeviceAllocator::CreateContextFn context_recorder,
                     size_t max_entries, c10::CachingDeviceAllocator::RecordContext when,
                     bool clear_history, const std::vector<std::string>& skip_actions) final;
  void recordAnnotation(const std::vector<std::pair<std::string, std::string>>& md) final;
  void pushCompileContext(std::string& md) final;
  void popCompileContext() final;
  void setUserMetadata(const std::string& metadata) final;
  std::string getUserMetadata() final;
  void attachOutOfMemoryObserver(
      c10::cuda::CUDACachingAllocator::OutOfMemoryObserver observer) final;
  void attachAllocatorTraceTracker(
      c10::CachingDeviceAllocator::AllocatorTraceTracker tracker) final;
  void enablePeerAccess(c10::DeviceIndex device, c10::DeviceIndex other) final;
  cudaError_t memcpyAsync(void* dst, int dst_device, const void* src, int src_device, size_t count,
                          cudaStream_t stream, bool p2p_enabled) final;
  std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState> getCheckpointState(
      c10::DeviceIndex device, c10::MempoolId_t id) final;
  c10::cuda::CUDACachingAllocator::CheckpointDelta setCheckpointPoolState(
      c10::DeviceIndex device,
      std::shared_ptr<c10::cuda::CUDACachingAllocator::AllocatorState> state) final;
  std::string name() final;

 protected:
  // A block of at least `nbytes` > 0 usable bytes on the current device, for the current stream.
  // Build it from original().allocate() and wrap_block(). The default forwards.
  virtual c10::DataPtr on_allocate(size_t nbytes);
  // Raw allocations (Thrust, NCCL) belong to whoever asked and are freed by pointer, perhaps after
  // this allocator is gone: the pointer must be the original's own. These only tell that it
  // happened.
  virtual void on_raw_alloc(void* /*ptr*/, size_t /*nbytes*/) {}
  virtual void on_raw_delete(void* /*ptr*/) {}

  // The allocator that was in place at the last installation.
  CUDAAllocator& original() const;

 private:
  friend class ScopedCudaAllocator;
  CUDAAllocator* original_ = nullptr;
};

// Installs the allocator for the scope's lifetime, for the whole process. Scopes must nest.
// Throws std::logic_error if the allocator is already installed.
class ScopedCudaAllocator {
 public:
  explicit ScopedCudaAllocator(ForwardingCudaAllocator& allocator);
  ~ScopedCudaAllocator();
  ScopedCudaAllocator(const ScopedCudaAllocator&) = delete;
  ScopedCudaAllocator& operator=(const ScopedCudaAllocator&) = delete;

 private:
  c10::cuda::CUDACachingAllocator::CUDAAllocator* previous_;
};

}  // namespace tigon::harness
