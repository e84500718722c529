#include "harness/sweep/dtype.h"

#include <stdexcept>

#include "harness/sweep/suggest.h"

namespace tigon::harness {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "fp32";
    case DType::kBFloat16:
      return "bf16";
    case DType::kFloat16:
      return "fp16";
  }
  return "?";
}

DType parse_dtype(std::string_view text) {
  for (DType dtype : kAllDTypes) {
    if (to_string(dtype) == text) return dtype;
  }
  throw std::invalid_argument(unknown_name("dtype", text, {"fp32", "bf16", "fp16"}));
}

}  // namespace tigon::harness
