#include "harness/verify/layout.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <stdexcept>

namespace tigon::harness {
namespace {

// Elements between two rows: odd, so that no row but the first is aligned for 16-byte loads.
constexpr int64_t kGap = 3;

at::Tensor offset(const at::Tensor& tensor) {
  at::Tensor buffer = at::empty({tensor.numel() + 1}, tensor.options());
  return buffer.narrow(0, 1, tensor.numel()).view(tensor.sizes()).copy_(tensor);
}

at::Tensor strided(const at::Tensor& tensor) {
  std::vector<int64_t> wide = tensor.sizes().vec();
  if (tensor.dim() < 2) {
    wide.push_back(2);
    return at::empty(wide, tensor.options()).select(-1, 0).copy_(tensor);
  }
  const int64_t width = wide.back();
  wide.back() += kGap;
  return at::empty(wide, tensor.options()).narrow(-1, 0, width).copy_(tensor);
}

}  // namespace

Axis layout_axis() {
  return option_axis("layout", {"contiguous", "offset", "strided", "transposed", "expanded"},
                     "contiguous", "how the tensors lie in memory");
}

at::Tensor with_layout(const at::Tensor& tensor, std::string_view layout) {
  const at::Tensor plain = tensor.detach();
  const bool has_rows = plain.dim() >= 2 && plain.size(0) > 0;
  if (layout == "contiguous") return plain;
  if (layout == "offset") return offset(plain);
  if (layout == "strided") return strided(plain);
  if (layout == "transposed") {
    return has_rows ? plain.transpose(0, -1).contiguous().transpose(0, -1) : plain;
  }
  if (layout == "expanded") return has_rows ? plain.narrow(0, 0, 1).expand(plain.sizes()) : plain;
  throw std::invalid_argument(fmt::format(
      "layout is \"{}\", expected contiguous, offset, strided, transposed or expanded", layout));
}

}  // namespace tigon::harness
