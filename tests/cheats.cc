#include "tests/cheats.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <torch/library.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "tests/with_gradient.h"

namespace tigon::synthetic {
namespace {

using at::Tensor;

Tensor right_forward(const Tensor& x, Gradient gradient) {
  return with_gradient(x, doubled(x), std::move(gradient));
}

Tensor right_backward(const Tensor& x, Tensor y) {
  return with_gradient(x, std::move(y), doubled_gradient);
}

char* bytes(const Tensor& tensor) { return static_cast<char*>(tensor.mutable_data_ptr()); }

// The same values with the last bit of the first element flipped.
Tensor with_other_last_bit(Tensor y) {
  *bytes(y) ^= 1;  // little endian
  return y;
}

// ---- what is written, and where ----

Tensor writes_nothing(const Tensor& x) { return right_backward(x, at::empty_like(x)); }

Tensor leaves_the_last_element(const Tensor& x) {
  Tensor y = at::empty(x.sizes(), x.options());
  const Tensor all = doubled(x).contiguous();
  std::memcpy(bytes(y), bytes(all), y.nbytes() - y.element_size());
  return right_backward(x, y);
}

Tensor writes_past_its_output(const Tensor& x) {
  Tensor y = doubled(x).contiguous();
  bytes(y)[y.nbytes()] = 0;
  return right_backward(x, y);
}

Tensor writes_before_its_output(const Tensor& x) {
  Tensor y = doubled(x).contiguous();
  bytes(y)[-1] = 0;
  return right_backward(x, y);
}

Tensor writes_past_its_gradient(const Tensor& x) {
  return right_forward(x, [](const Tensor& dy, const Tensor&) {
    Tensor dx = dy.mul(2).contiguous();
    bytes(dx)[dx.nbytes()] = 0;
    return dx;
  });
}

Tensor reads_uninitialised_workspace(const Tensor& x) {
  Tensor sum = at::empty(x.sizes(), x.options());  // meant to be zeros
  return right_backward(x, sum.add_(x.detach(), 2));
}

Tensor changes_its_input(const Tensor& x) {
  Tensor y = doubled(x);
  std::memset(bytes(x), 0, x.element_size());
  return right_backward(x, y);
}

// Between the rows, where another tensor's elements may be.
Tensor changes_the_gaps_of_its_input(const Tensor& x) {
  Tensor y = doubled(x);
  const auto end = static_cast<char*>(x.storage().mutable_data()) + x.storage().nbytes();
  end[-1] ^= 1;
  return right_backward(x, y);
}

Tensor changes_the_upstream_gradient(const Tensor& x) {
  return right_forward(x, [](const Tensor& dy, const Tensor&) {
    Tensor dx = dy.mul(2);
    std::memset(bytes(dy), 0, dy.element_size());
    return dx;
  });
}

Tensor takes_a_shared_upstream_gradient(const Tensor& x) {
  return right_forward(x, [](Tensor dy, const Tensor&) { return dy.mul_(2); });
}

Tensor spoils_an_upstream_gradient_of_its_own(const Tensor& x) {
  return right_forward(
      x, [](Tensor dy, const Tensor&) { return is_exclusive(dy) ? std::move(dy) : dy.mul(2); });
}

Tensor returns_its_input(const Tensor& x) { return x.view_as(x); }

std::tuple<Tensor, Tensor> second_output_is_the_first(const Tensor& x) {
  Tensor y = x.mul(2);
  return {y, y.view_as(y)};
}

// ---- when it is right ----

Tensor right_only_the_first_time(const Tensor& x) {
  static int calls = 0;
  return right_backward(x, calls++ == 0 ? doubled(x) : at::full_like(x, 2));
}

// Verification calls an operator a few times, timing hundreds of times.
Tensor right_until_it_is_timed(const Tensor& x) {
  static int calls = 0;
  return right_backward(x, calls++ < 12 ? doubled(x) : at::full_like(x, 2));
}

Tensor caches_by_pointer(const Tensor& x) {
  static std::map<std::pair<const void*, int64_t>, Tensor> cache;
  Tensor& kept = cache[{x.const_data_ptr(), x.numel()}];
  if (!kept.defined() || kept.sizes() != x.sizes() || kept.dtype() != x.dtype()) kept = doubled(x);
  return right_backward(x, kept.clone());
}

Tensor differs_from_call_to_call(const Tensor& x) {
  static int calls = 0;
  Tensor y = doubled(x).contiguous();
  return right_backward(x, calls++ % 2 == 0 ? y : with_other_last_bit(y));
}

// ---- what is computed ----

Tensor wrong_by_a_few_ulp(const Tensor& x) {
  const double ulp = x.scalar_type() == at::kFloat ? 0x1p-23 : 0x1p-7;
  return right_backward(x, x.detach().mul(2 * (1 + 8 * ulp)));
}

Tensor wrong_in_one_place(const Tensor& x) {
  Tensor y = doubled(x).contiguous();
  y.view({-1})[y.numel() / 2].mul_(1.5);
  return right_backward(x, y);
}

Tensor nan_in_one_place(const Tensor& x) {
  Tensor y = doubled(x).contiguous();
  y.view({-1})[y.numel() / 2].fill_(std::numeric_limits<double>::quiet_NaN());
  return right_backward(x, y);
}

Tensor infinite_in_one_place(const Tensor& x) {
  Tensor y = doubled(x).contiguous();
  y.view({-1})[0].fill_(std::numeric_limits<double>::infinity());
  return right_backward(x, y);
}

Tensor wrong_backward(const Tensor& x) {
  return right_forward(x, [](const Tensor& dy, const Tensor&) { return dy.mul(-2); });
}

Tensor ignores_the_upstream_gradient(const Tensor& x) {
  return right_forward(x, [](const Tensor& dy, const Tensor&) { return at::full_like(dy, 2); });
}

Tensor gives_no_gradient(const Tensor& x) {
  return right_forward(x, [](const Tensor&, const Tensor&) { return Tensor(); });
}

Tensor is_not_differentiable(const Tensor& x) { return doubled(x); }

Tensor ignores_strides(const Tensor& x) {
  const Tensor dense = at::empty({0}, x.options()).set_(x.storage(), 0, {x.numel()}, {1});
  return right_backward(x, dense.view(x.sizes()).mul(2));
}

// ---- what comes out ----

Tensor output_of_another_dtype(const Tensor& x) {
  const auto other = x.scalar_type() == at::kFloat ? at::kBFloat16 : at::kFloat;
  return with_gradient(
      x, x.detach().to(other).mul(2),
      [type = x.scalar_type()](const Tensor& dy, const Tensor&) { return dy.to(type).mul(2); });
}

Tensor output_of_another_shape(const Tensor& x) { return x.mul(2).reshape({-1}); }

Tensor gradient_of_another_shape(const Tensor& x) {
  return right_forward(x, [](const Tensor& dy, const Tensor&) { return dy.mul(2).reshape({-1}); });
}

// ---- what it costs ----

Tensor saves_more_than_it_claims(const Tensor& x) {
  return right_forward(x, [hoard = at::empty({4096}, x.options())](
                              const Tensor& dy, const Tensor&) { return dy.mul(2); });
}

Tensor takes_more_workspace_than_it_claims(const Tensor& x) {
  const Tensor workspace = at::empty({4096}, x.options());
  return right_backward(x, doubled(x));
}

struct Entry {
  Cheat cheat;
  Tensor (*op)(const Tensor&);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"writes_nothing"}, writes_nothing},
      {{"leaves_the_last_element"}, leaves_the_last_element},
      {{"writes_past_its_output"}, writes_past_its_output},
      {{"writes_before_its_output"}, writes_before_its_output},
      {{"writes_past_its_gradient"}, writes_past_its_gradient},
      {{"reads_uninitialised_workspace"}, reads_uninitialised_workspace},
      {{"changes_its_input"}, changes_its_input},
      {{"changes_the_gaps_of_its_input"}, changes_the_gaps_of_its_input},
      {{"changes_the_upstream_gradient"}, changes_the_upstream_gradient},
      {{"takes_a_shared_upstream_gradient"}, takes_a_shared_upstream_gradient},
      {{"spoils_an_upstream_gradient_of_its_own"}, spoils_an_upstream_gradient_of_its_own},
      {{"returns_its_input", 1}, returns_its_input},
      {{"right_only_the_first_time"}, right_only_the_first_time},
      {{"right_until_it_is_timed", 2, 1, true}, right_until_it_is_timed},
      {{"caches_by_pointer"}, caches_by_pointer},
      {{"differs_from_call_to_call"}, differs_from_call_to_call},
      {{"wrong_by_a_few_ulp"}, wrong_by_a_few_ulp},
      {{"wrong_in_one_place"}, wrong_in_one_place},
      {{"nan_in_one_place"}, nan_in_one_place},
      {{"infinite_in_one_place"}, infinite_in_one_place},
      {{"wrong_backward"}, wrong_backward},
      {{"ignores_the_upstream_gradient"}, ignores_the_upstream_gradient},
      {{"gives_no_gradient"}, gives_no_gradient},
      {{"is_not_differentiable"}, is_not_differentiable},
      {{"ignores_strides"}, ignores_strides},
      {{"output_of_another_dtype"}, output_of_another_dtype},
      {{"output_of_another_shape"}, output_of_another_shape},
      {{"gradient_of_another_shape"}, gradient_of_another_shape},
      {{"saves_more_than_it_claims", 2, 1, true}, saves_more_than_it_claims},
      {{"takes_more_workspace_than_it_claims", 2, 1, true}, takes_more_workspace_than_it_claims},
  };
  return all;
}

constexpr Cheat kSecondOutputIsTheFirst{"second_output_is_the_first", 2, 2, false};

}  // namespace

const std::vector<Cheat>& cheats() {
  static const std::vector<Cheat> all = [] {
    std::vector<Cheat> list{kSecondOutputIsTheFirst};
    for (const Entry& entry : entries()) list.push_back(entry.cheat);
    return list;
  }();
  return all;
}

TORCH_LIBRARY_FRAGMENT(tigon_synthetic, m) {
  for (const Entry& entry : entries()) {
    m.def((std::string(entry.cheat.name) + "(Tensor x) -> Tensor").c_str(), entry.op);
  }
  m.def("second_output_is_the_first(Tensor x) -> (Tensor, Tensor)", second_output_is_the_first);
}

}  // namespace tigon::synthetic
