// What the suites' sweeps are made of: sizes of training, and shapes, layouts and values that break
// kernels by construction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/axis.h"

namespace tigon::suites {

using Point = std::vector<harness::AxisValue>;

// Tokens of a training step on one device: small on a CPU, where the sweep has to end in minutes.
int64_t tokens(harness::DeviceKind device);

extern const std::vector<harness::DType> kAllTypes;       // fp32, bf16, fp16
extern const std::vector<harness::DType> kTrainingTypes;  // bf16, fp32
extern const std::vector<harness::DeviceKind> kEveryDevice;

// Measured, on one kind of device, from `preset` on.
harness::Sweep timed(std::string name, harness::Preset preset, harness::DeviceKind device,
                     std::vector<Point> points, std::vector<harness::DType> dtypes);

// Verified only, on every device.
harness::Sweep verified(std::string name, harness::Preset preset, std::vector<harness::Axis> axes,
                        std::vector<std::string> profiles, std::vector<harness::DType> dtypes);

// For operators on rows, whose sizes are the axes "rows" and `width`:
//   tiny      small enough for central differences
//   widths    1, a vector +- 1, a warp, a block and a tile +- 1, primes
//   huge      beyond 65536
//   rows      0, 1, and more than a grid has blocks
//   profiles  every way of drawing inputs
//   layouts   every way of lying in memory (the option layout)
std::vector<harness::Sweep> hostile_rows(const std::string& width);

}  // namespace tigon::suites
