#include "harness/measure/cpu_clock.h"

#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "harness/stats/quantile.h"

namespace tigon::harness {
namespace {

class CpuClock final : public Clock {
 public:
  explicit CpuClock(int64_t flush_bytes) {
    if (flush_bytes < 0) flush_bytes = last_level_cache_bytes() * 5 / 4;
    // A machine whose memory is small beside its cache is a share of a larger one.
    const auto memory =
        static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
    scratch_.resize(static_cast<size_t>(std::min(flush_bytes, memory / 8)));
  }

  double sample_us(Subject& subject) override {
    if (subject.prepare) subject.prepare();
    flush();
    const auto start = std::chrono::steady_clock::now();
    subject.run();
    const auto stop = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::micro>(stop - start).count();
  }

  double overhead_us() override {
    if (overhead_us_ < 0) {
      const Closure nothing = [] {};
      std::vector<double> empty(100);
      for (double& us : empty) {
        const auto start = std::chrono::steady_clock::now();
        nothing();
        const auto stop = std::chrono::steady_clock::now();
        us = std::chrono::duration<double, std::micro>(stop - start).count();
      }
      overhead_us_ = median(empty);
    }
    return overhead_us_;
  }

  c10::Device device() const override { return c10::Device(c10::DeviceType::CPU); }
  int64_t flush_bytes() const override { return static_cast<int64_t>(scratch_.size()); }

 private:
  // By the threads that will run the closure, so that each core's own caches turn over too.
  void flush() {
    constexpr int64_t kGrain = 1 << 20;
    ++fill_;
    at::parallel_for(
        0, static_cast<int64_t>(scratch_.size()), kGrain, [this](int64_t begin, int64_t end) {
          std::memset(scratch_.data() + begin, fill_, static_cast<size_t>(end - begin));
        });
  }

  std::vector<unsigned char> scratch_;
  unsigned char fill_ = 0;
  double overhead_us_ = -1;
};

}  // namespace

int64_t last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return bytes;
  }
  return int64_t{32} << 20;
}

std::unique_ptr<Clock> make_cpu_clock(int64_t flush_bytes) {
  return std::make_unique<CpuClock>(flush_bytes);
}

}  // namespace tigon::harness
