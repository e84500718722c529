// The element types that Tigon's kernels read and write. Free of any framework.
#pragma once

namespace tigon {

enum class ScalarType { kFloat32, kBFloat16, kFloat16 };

constexpr int element_size(ScalarType type) { return type == ScalarType::kFloat32 ? 4 : 2; }

}  // namespace tigon
