#include "harness/verify/testing.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <atomic>
#include <limits>

#include "harness/verify/layout.h"

namespace tigon::harness::testing {
namespace {

using at::Tensor;

Tensor square(const Tensor& x, const Tensor& weight) { return weight * (x * x); }

// The first element, unseen by autograd.
Tensor first(const Tensor& t) { return t.variable_data().select(0, 0).select(-1, 0); }

// Off by two to four units in the last place of fp32.
Tensor nudged(Tensor y) {
  first(y).mul_(1 + 0x1p-22);
  return y;
}

Tensor forward_off(const Tensor& x, const Tensor& weight) { return square(x, weight) * 1.01; }

Tensor backward_off(const Tensor& x, const Tensor& weight) { return weight * (x * x.detach()); }

Tensor no_gradient(const Tensor& x, const Tensor& weight) { return square(x, weight.detach()); }

Tensor nan(const Tensor& x, const Tensor& weight) {
  Tensor y = square(x, weight);
  first(y).fill_(std::numeric_limits<double>::quiet_NaN());
  return y;
}

Tensor wide(const Tensor& x, const Tensor& weight) {
  return square(x.to(at::kFloat), weight.to(at::kFloat));
}

Tensor narrow(const Tensor& x, const Tensor& weight) {
  return square(x, weight).narrow(-1, 0, x.size(-1) - 1);
}

Tensor alias(const Tensor& x, const Tensor& weight) {
  Tensor y = square(x, weight);
  y.unsafeGetTensorImpl()->set_storage_keep_dtype(x.storage());
  return y;
}

Tensor writes_input(const Tensor& x, const Tensor& weight) {
  Tensor y = square(x.clone(), weight);
  first(x).add_(1);
  return y;
}

Tensor writes_gap(const Tensor& x, const Tensor& weight) {
  auto* bytes = static_cast<char*>(x.variable_data().mutable_data_ptr());
  bytes[x.size(-1) * x.element_size()] ^= 1;
  return square(x, weight);
}

Tensor writes_upstream(const Tensor& x, const Tensor& weight) {
  Tensor y = square(x, weight);
  y.register_hook([](const Tensor& upstream) {
    Tensor copy = upstream.clone();
    first(upstream).add_(1);
    return copy;
  });
  return y;
}

Tensor writes_past(const Tensor& x, const Tensor& weight) {
  Tensor y = square(x, weight);
  static_cast<char*>(y.storage().mutable_data())[y.storage().nbytes()] = 0;
  return y;
}

Tensor reads_unwritten(const Tensor& x, const Tensor& weight) {
  const Tensor fresh = at::empty({1}, at::TensorOptions().dtype(at::kByte));
  Tensor y = square(x, weight);
  return *fresh.const_data_ptr<uint8_t>() == 0x3C ? nudged(y) : y;
}

Tensor flickers(const Tensor& x, const Tensor& weight) {
  static std::atomic<int> calls = 0;
  Tensor y = square(x, weight);
  return calls++ % 2 == 1 ? nudged(y) : y;
}

Tensor throws(const Tensor& x, const Tensor& /*weight*/) {
  TORCH_CHECK(false, "x has ", x.size(0), " rows, want luck\nand a second line");
  return x;
}

Tensor out_of_memory(const Tensor& x, const Tensor& /*weight*/) {
  TORCH_CHECK_WITH(OutOfMemoryError, false, "tried to allocate 1 EiB");
  return x;
}

Tensor keeps(const Tensor& x, const Tensor& weight) {
  Tensor y = square(x, weight);
  y.register_hook([copy = x.detach().clone()](const Tensor& upstream) { return upstream; });
  return y;
}

TORCH_LIBRARY(tigon_test, m) {
  m.def("scaled_square(Tensor x, Tensor weight) -> Tensor", square);
  m.def("scaled_square.forward_off(Tensor x, Tensor weight) -> Tensor", forward_off);
  m.def("scaled_square.backward_off(Tensor x, Tensor weight) -> Tensor", backward_off);
  m.def("scaled_square.no_gradient(Tensor x, Tensor weight) -> Tensor", no_gradient);
  m.def("scaled_square.nan(Tensor x, Tensor weight) -> Tensor", nan);
  m.def("scaled_square.wide(Tensor x, Tensor weight) -> Tensor", wide);
  m.def("scaled_square.narrow(Tensor x, Tensor weight) -> Tensor", narrow);
  m.def("scaled_square.alias(Tensor x, Tensor weight) -> Tensor", alias);
  m.def("scaled_square.writes_input(Tensor x, Tensor weight) -> Tensor", writes_input);
  m.def("scaled_square.writes_gap(Tensor x, Tensor weight) -> Tensor", writes_gap);
  m.def("scaled_square.writes_upstream(Tensor x, Tensor weight) -> Tensor", writes_upstream);
  m.def("scaled_square.writes_past(Tensor x, Tensor weight) -> Tensor", writes_past);
  m.def("scaled_square.reads_unwritten(Tensor x, Tensor weight) -> Tensor", reads_unwritten);
  m.def("scaled_square.flickers(Tensor x, Tensor weight) -> Tensor", flickers);
  m.def("scaled_square.throws(Tensor x, Tensor weight) -> Tensor", throws);
  m.def("scaled_square.out_of_memory(Tensor x, Tensor weight) -> Tensor", out_of_memory);
  m.def("scaled_square.keeps(Tensor x, Tensor weight) -> Tensor", keeps);
}

Truth reference(const Case&, const Inputs& inputs, const std::vector<Tensor>& upstream) {
  const Tensor& x = inputs["x"];
  const Tensor& weight = inputs["weight"];
  return {{{"y", weight * x * x}},
          {{"x", 2 * weight * x * upstream[0]}, {"weight", (upstream[0] * x * x).sum(0)}}};
}

int64_t bytes(const Case& c) {
  return c.integer("rows") * c.integer("hidden") * element_size(c.dtype);
}

std::vector<Sweep> sweeps() {
  const std::vector<DeviceKind> every = {DeviceKind::kCpu, DeviceKind::kCuda};
  return {{"timed",
           {Preset::kSmoke},
           every,
           true,
           {integer_point({{"rows", 4}, {"hidden", 6}})},
           {},
           {DType::kFloat32, DType::kBFloat16},
           {"normal"},
           {}},
          {"widths",
           {Preset::kDefault},
           every,
           false,
           {},
           {integer_axis("rows", {3}), integer_axis("hidden", {1, 7, 64})},
           {DType::kFloat32},
           {"normal"},
           {}},
          {"large",
           {Preset::kFull},
           {DeviceKind::kCuda},
           true,
           {integer_point({{"rows", 8192}, {"hidden", 4096}})},
           {},
           {DType::kBFloat16},
           {"normal"},
           {}}};
}

}  // namespace

Operator scaled_square() {
  Operator op;
  op.name = "scaled_square";
  op.options = {layout_axis()};
  op.sweeps = sweeps();
  op.make_inputs = [](const Case& c, Draw& draw) {
    const int64_t rows = c.integer("rows"), hidden = c.integer("hidden");
    return Inputs{{"x", draw.activations({rows, hidden}, 100), true},
                  {"weight", draw.weights({hidden}, scalar_type(c.dtype)), true}};
  };
  op.output_names = {"y"};
  op.fused = "tigon_test::scaled_square";
  op.arguments = [](const Case&, const Inputs& inputs) {
    return std::vector<c10::IValue>{inputs["x"], inputs["weight"]};
  };
  op.eager = [](const Case&, const Inputs& inputs) {
    return std::vector<Tensor>{square(inputs["x"], inputs["weight"])};
  };
  op.reference = reference;
  op.cost = [](const Case& c) {
    const int64_t elements = c.integer("rows") * c.integer("hidden");
    return Cost{{bytes(c), bytes(c), 2 * elements}, {2 * bytes(c), bytes(c), 4 * elements}};
  };
  op.claims = [](const Case& c) { return Claims{true, bytes(c), -1}; };
  return op;
}

Case scaled_square_case(int64_t rows, int64_t hidden, DType dtype, const std::string& profile,
                        const std::string& layout) {
  Case c{"scaled_square", integer_point({{"rows", rows}, {"hidden", hidden}}), dtype, profile};
  c.axes.push_back({"layout", layout, layout != "contiguous"});
  return c;
}

Operator broken(std::string_view fault) {
  Operator op = scaled_square();
  op.fused += "." + std::string(fault);
  return op;
}

}  // namespace tigon::harness::testing
