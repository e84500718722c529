#include "harness/measure/roof.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "harness/measure/streaming.h"
#include "harness/stats/quantile.h"

namespace tigon::harness {
namespace {

constexpr int64_t kVectorBytes = 16;
constexpr int kSamples = 12;

// The size to measure at: four significant bits, rounded to the nearest.
int64_t rounded(int64_t bytes) {
  constexpr int kBits = 4;
  const int width = std::bit_width(static_cast<uint64_t>(bytes));
  if (width <= kBits) return bytes;
  const int shift = width - kBits;
  return ((bytes + (int64_t{1} << (shift - 1))) >> shift) << shift;
}

// The time that the device can do. On a CPU the shortest: other processes only lengthen a sample.
// On a GPU the lower decile: nobody interferes, but an event's resolution makes lucky samples.
double best_us(Clock& clock, Closure run) {
  Subject subject;
  subject.run = std::move(run);
  std::vector<double> samples;
  subject.run();  // pages touched, module loaded
  clock.sample_us(subject);
  for (int i = 0; i < kSamples; ++i) samples.push_back(clock.sample_us(subject));
  return quantile(samples, clock.device().is_cuda() ? 0.1 : 0.0);
}

at::Tensor filled_bytes(int64_t bytes, c10::Device device) {
  at::Tensor tensor = at::empty({bytes}, at::TensorOptions().device(device).dtype(at::kByte));
  if (bytes == 0) return tensor;
  // Random on a GPU, which may compress zeros or save power on them. Page by page on a CPU, whose
  // untouched pages are all one.
  return device.is_cuda() ? tensor.random_() : tensor.fill_(1);
}

}  // namespace

Roof::Roof(Clock& clock) : clock_(clock) {}

Roof::MemoryKey Roof::memory_key(int64_t bytes_read, int64_t bytes_written) {
  const StreamMix mix = nearest_mix(bytes_read, bytes_written);
  return {rounded(bytes_read + bytes_written), mix.reads, mix.writes};
}

RoofMeasurement Roof::measure_memory_rate(const MemoryKey& key) {
  const auto [bytes, reads, writes] = key;
  const c10::Device device = clock_.device();
  Streams streams{};
  streams.mix = {reads, writes};
  streams.vectors = std::max<int64_t>(1, bytes / kVectorBytes / (reads + writes));
  const int64_t array = streams.vectors * kVectorBytes;
  at::Tensor source = filled_bytes(array * reads, device);
  // A mix that only reads must still have somewhere to write to, for all the compiler knows.
  at::Tensor destination = filled_bytes(std::max(array * writes, kVectorBytes), device);
  streams.source = source.const_data_ptr();
  streams.destination = destination.mutable_data_ptr();

  RoofMeasurement best{bytes, reads, writes, "", "", 0};
  const auto consider = [&](std::string way, int64_t moved, Closure run) {
    const double rate = 1e6 * static_cast<double>(moved) / best_us(clock_, std::move(run));
    if (rate > best.per_second) {
      best.per_second = rate;
      best.way = std::move(way);
    }
  };
  const int variants = device.is_cuda() ? kCudaStreamVariants : kCpuStreamVariants;
  for (int variant = 0; variant < variants; ++variant) {
    consider(fmt::format("stream {}", variant), array * (reads + writes),
             [&streams, device, variant] {
               if (device.is_cuda()) {
                 C10_CUDA_CHECK(stream_cuda(
                     streams, variant, c10::cuda::getCurrentCUDAStream(device.index()).stream()));
               } else {
                 stream_cpu(streams, variant);
               }
             });
  }
  // A copy reads as much as it writes. Where less is written its rate can be had too; where more
  // is, perhaps not, and only a fill compares.
  if (reads == 0) {
    consider("fill_", array * writes, [&destination] { destination.fill_(1); });
  } else if (reads >= writes) {
    const int64_t half = std::max<int64_t>(kVectorBytes, bytes / 2 / kVectorBytes * kVectorBytes);
    source = filled_bytes(half, device);
    destination = filled_bytes(half, device);
    consider("copy_", 2 * half, [&source, &destination] { destination.copy_(source); });
  }
  return best;
}

RoofMeasurement Roof::measure_flops(at::ScalarType dtype) {
  const c10::Device device = clock_.device();
  const auto options = at::TensorOptions().device(device).dtype(dtype);
  const c10::AutoGradMode no_gradients(false);
  // A GPU is known to be busy with the largest; a CPU is asked for more until it takes long enough
  // to hide the start of its threads.
  constexpr double kLongEnoughUs = 2e4;
  RoofMeasurement best{0, 0, 0, c10::toString(dtype), "", 0};
  for (int64_t n = device.is_cuda() ? 8192 : 256;; n *= 2) {
    const at::Tensor a = at::randn({n, n}, options);
    const at::Tensor b = at::randn({n, n}, options);
    const double us = best_us(clock_, [&a, &b] { at::matmul(a, b); });
    const double rate =
        1e6 * 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / us;
    if (rate > best.per_second) {
      best.per_second = rate;
      best.way = fmt::format("matmul {}", n);
    }
    // Eight times the work next: stop before it takes a second.
    if (device.is_cuda() || us > kLongEnoughUs) return best;
  }
}

double Roof::memory_us(int64_t bytes_read, int64_t bytes_written) {
  TORCH_CHECK(bytes_read >= 0 && bytes_written >= 0, "Roof: bytes read and written are ",
              bytes_read, " and ", bytes_written, ", want 0 or more");
  if (bytes_read + bytes_written == 0) return 0;
  const c10::OptionalDeviceGuard guard(clock_.device());
  const MemoryKey key = memory_key(bytes_read, bytes_written);
  auto found = memory_.find(key);
  if (found == memory_.end()) found = memory_.emplace(key, measure_memory_rate(key)).first;
  return 1e6 * static_cast<double>(bytes_read + bytes_written) / found->second.per_second;
}

double Roof::flops_per_second(at::ScalarType dtype) {
  const c10::OptionalDeviceGuard guard(clock_.device());
  auto found = flops_.find(dtype);
  if (found == flops_.end()) found = flops_.emplace(dtype, measure_flops(dtype)).first;
  return found->second.per_second;
}

double Roof::time_us(const PassCost& cost, at::ScalarType dtype) {
  const double memory = memory_us(cost.bytes_read, cost.bytes_written);
  if (cost.flops == 0) return memory;
  return std::max(memory, 1e6 * static_cast<double>(cost.flops) / flops_per_second(dtype));
}

void Roof::forget(const PassCost& cost, at::ScalarType dtype) {
  if (cost.bytes_read + cost.bytes_written > 0) {
    memory_.erase(memory_key(cost.bytes_read, cost.bytes_written));
  }
  if (cost.flops > 0) flops_.erase(dtype);
}

std::vector<RoofMeasurement> Roof::measurements() const {
  std::vector<RoofMeasurement> all;
  for (const auto& [key, measurement] : memory_) all.push_back(measurement);
  for (const auto& [dtype, measurement] : flops_) all.push_back(measurement);
  return all;
}

}  // namespace tigon::harness
