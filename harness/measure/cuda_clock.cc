#include "harness/measure/cuda_clock.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

#include "harness/measure/hold_stream.h"
#include "harness/stats/quantile.h"

namespace tigon::harness {
namespace {

constexpr double kLongestHoldMs = 1000;

class Event {
 public:
  Event() { C10_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { C10_CUDA_CHECK_WARN(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { C10_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  double us_since(const Event& start) const {
    float ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&ms, start.event_, event_));
    return 1e3 * ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class MappedFlags {
 public:
  MappedFlags() {
    void* host = nullptr;
    C10_CUDA_CHECK(cudaHostAlloc(&host, sizeof(HoldFlags), cudaHostAllocMapped));
    host_ = static_cast<volatile HoldFlags*>(host);
    host_->released = 0;
    host_->timed_out = 0;
    void* device = nullptr;
    C10_CUDA_CHECK(cudaHostGetDevicePointer(&device, host, 0));
    device_ = static_cast<volatile HoldFlags*>(device);
  }
  ~MappedFlags() { C10_CUDA_CHECK_WARN(cudaFreeHost(const_cast<HoldFlags*>(host_))); }
  MappedFlags(const MappedFlags&) = delete;
  MappedFlags& operator=(const MappedFlags&) = delete;
  volatile HoldFlags* host() const { return host_; }
  volatile HoldFlags* device() const { return device_; }

 private:
  volatile HoldFlags* host_ = nullptr;
  volatile HoldFlags* device_ = nullptr;
};

// Lets the stream go when it leaves scope, however it does.
class Hold {
 public:
  Hold(const MappedFlags& flags, uint32_t number, double deadline_ms, cudaStream_t stream)
      : flags_(flags), number_(number) {
    C10_CUDA_CHECK(
        launch_hold(flags.device(), number, static_cast<uint64_t>(1e6 * deadline_ms), stream));
  }
  ~Hold() { release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  void release() { flags_.host()->released = number_; }

 private:
  const MappedFlags& flags_;
  uint32_t number_;
};

class CudaClock final : public Clock {
 public:
  CudaClock(c10::Device device, int64_t flush_bytes) : device_(device) {
    if (flush_bytes < 0) {
      int l2 = 0;
      C10_CUDA_CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device.index()));
      flush_bytes = 2 * static_cast<int64_t>(l2);
    }
    scratch_ = at::empty({flush_bytes}, at::TensorOptions().device(device).dtype(at::kByte));
  }

  double sample_us(Subject& subject) override {
    const c10::cuda::CUDAGuard guard(device_);
    for (;;) {
      if (subject.prepare) subject.prepare();
      flush();
      if (!subject.queue_full) return timed(subject);
      const double us = held(subject);
      if (us >= 0) return us;
      ++subject.dropped;
      // An allocation that waits for the device happens once; a closure that waits always does.
      if (subject.hold_ms >= kLongestHoldMs) subject.queue_full = false;
      subject.hold_ms = std::min(4 * subject.hold_ms, kLongestHoldMs);
    }
  }

  double overhead_us() override {
    if (overhead_us_ < 0) {
      Subject nothing;
      nothing.run = [] {};
      std::vector<double> empty(100);
      for (double& us : empty) us = sample_us(nothing);
      overhead_us_ = median(empty);
    }
    return overhead_us_;
  }

  c10::Device device() const override { return device_; }
  int64_t flush_bytes() const override { return scratch_.numel(); }

 private:
  cudaStream_t stream() const { return c10::cuda::getCurrentCUDAStream(device_.index()).stream(); }

  // Lines that a kernel marked as persisting would survive the write.
  void flush() {
    if (scratch_.numel() == 0) return;
    C10_CUDA_CHECK(cudaCtxResetPersistingL2Cache());
    C10_CUDA_CHECK(cudaMemsetAsync(scratch_.mutable_data_ptr(), ++fill_,
                                   static_cast<size_t>(scratch_.numel()), stream()));
  }

  double timed(Subject& subject) {
    start_.record(stream());
    subject.run();
    stop_.record(stream());
    C10_CUDA_CHECK(cudaStreamSynchronize(stream()));
    return stop_.us_since(start_);
  }

  // Negative when the deadline let the device go before the host had enqueued everything.
  double held(Subject& subject) {
    const uint32_t number = ++holds_;
    {
      Hold hold(flags_, number, subject.hold_ms, stream());
      start_.record(stream());
      subject.run();
      stop_.record(stream());
    }
    C10_CUDA_CHECK(cudaStreamSynchronize(stream()));
    return flags_.host()->timed_out == number ? -1.0 : stop_.us_since(start_);
  }

  const c10::Device device_;
  at::Tensor scratch_;
  MappedFlags flags_;
  Event start_;
  Event stop_;
  uint32_t holds_ = 0;
  int fill_ = 0;
  double overhead_us_ = -1;
};

}  // namespace

std::unique_ptr<Clock> make_cuda_clock(c10::Device device, int64_t flush_bytes) {
  const int count = c10::cuda::device_count();
  if (!device.has_index()) {
    TORCH_CHECK(count > 0, "make_clock: device is cuda, but this machine has no CUDA device");
    device = c10::Device(c10::DeviceType::CUDA, c10::cuda::current_device());
  }
  TORCH_CHECK(device.index() < count, "make_clock: device is ", device, ", but this machine has ",
              count, " CUDA devices");
  // The clock's events and mapped memory belong to the device that is current when they are made.
  const c10::cuda::CUDAGuard guard(device);
  return std::make_unique<CudaClock>(device, flush_bytes);
}

}  // namespace tigon::harness
