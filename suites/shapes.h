// Where the sizes of the suites come from: the model families of models/, and shapes that break
// kernels by construction.
#pragma once

#include <string_view>
#include <vector>

#include "harness/sweep/axis.h"
#include "models/models.h"

namespace tigon::suites {

// Tokens of a training step on one device: small on a CPU, where the sweep has to end in minutes.
inline constexpr int64_t kTokensCpu = 128;
inline constexpr int64_t kTokensCuda = 8192;

inline const std::vector<harness::DType> kAllTypes = {
    harness::DType::kFloat32, harness::DType::kBFloat16, harness::DType::kFloat16};
inline const std::vector<harness::DType> kTrainingTypes = {harness::DType::kBFloat16,
                                                           harness::DType::kFloat32};
inline const std::vector<harness::DeviceKind> kEveryDevice = {harness::DeviceKind::kCpu,
                                                              harness::DeviceKind::kCuda};

// Widths of rows that hit every seam of a vectorised kernel: 1, a vector of 4 or 8 elements and of
// 16 bytes +- 1, a warp, a block and a tile +- 1, primes.
inline const std::vector<int64_t> kHostileWidths = {1,   2,   3,    7,    8,    9,    31,  32,
                                                    33,  63,  64,   65,   127,  128,  129, 255,
                                                    257, 511, 1009, 1023, 1025, 4095, 4097};
// Beyond 65536, where a block per row or a 16-bit index ends.
inline const std::vector<int64_t> kHugeWidths = {65537, 131072};

}  // namespace tigon::suites
