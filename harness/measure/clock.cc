#include "harness/measure/clock.h"

#include <c10/util/Exception.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "harness/measure/cpu_clock.h"
#include "harness/measure/cuda_clock.h"
#include "harness/measure/synchronize.h"
#include "harness/stats/quantile.h"

namespace tigon::harness {

std::unique_ptr<Clock> make_clock(c10::Device device, const ClockOptions& options) {
  TORCH_CHECK(device.is_cpu() || device.is_cuda(), "make_clock: device is ", device,
              ", want cpu or cuda");
  if (device.is_cuda()) return make_cuda_clock(device, options.flush_bytes);
  return make_cpu_clock(options.flush_bytes);
}

double warm_up(Clock& clock, Subject& subject, const WarmUpOptions& options) {
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  // Plainly at first: what is loaded or allocated once may wait for the device, which must not be
  // held back then.
  for (int i = 0; i < options.min_calls; ++i) {
    if (subject.prepare) subject.prepare();
    subject.run();
  }
  synchronize(clock.device());

  double before = 0;
  double now = 0;
  do {
    std::vector<double> block;
    for (int i = 0; i < options.block; ++i) block.push_back(clock.sample_us(subject));
    before = now;
    now = median(block);
  } while (std::abs(now - before) > options.settled * now &&
           Seconds(std::chrono::steady_clock::now() - start).count() < options.max_seconds);
  return now;
}

}  // namespace tigon::harness
