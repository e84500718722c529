// The element types a case can have, and the facts about their rounding that verdicts rest on.
// Free of any framework, so that plans, records and tests need none.
#pragma once

#include <string_view>

namespace tigon::harness {

enum class DType { kFloat32, kBFloat16, kFloat16 };

inline constexpr DType kAllDTypes[] = {DType::kFloat32, DType::kBFloat16, DType::kFloat16};

// "fp32", "bf16", "fp16".
std::string_view to_string(DType dtype);

// The inverse of to_string. Throws std::invalid_argument naming what was got and what is known.
DType parse_dtype(std::string_view text);

// Bytes of one element.
constexpr int element_size(DType dtype) { return dtype == DType::kFloat32 ? 4 : 2; }

// The unit roundoff u: the largest relative error of one rounding to nearest, in the normal range.
// With p significant bits (24, 8, 11) the distance from 1 to the next number is eps = 2^(1-p), and
// u = eps / 2 = 2^-p: 2^-24, 2^-8, 2^-11.
constexpr double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 0x1p-24;
    case DType::kBFloat16:
      return 0x1p-8;
    case DType::kFloat16:
      return 0x1p-11;
  }
  return 0;
}

// Below this magnitude numbers are subnormal and the relative error of a rounding may exceed u.
constexpr double smallest_normal(DType dtype) {
  return dtype == DType::kFloat16 ? 0x1p-14 : 0x1p-126;
}

constexpr double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 0x1.fffffep127;
    case DType::kBFloat16:
      return 0x1.fep127;
    case DType::kFloat16:
      return 65504.0;
  }
  return 0;
}

}  // namespace tigon::harness
