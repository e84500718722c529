// SwiGLU on the CPU, compiled once for each capability (kernels/core/cpu/capability.h).
#include "kernels/swiglu/swiglu_cpu_impl.h"

#include "kernels/core/cpu/element.h"
#include "kernels/core/cpu/exp.h"
#include "kernels/core/cpu/simd.h"

namespace tigon::TIGON_CPU_NAMESPACE {
namespace {

template <typename Element>
void forward_columns(const SwigluForwardArgs& args, int64_t row, int64_t begin, int64_t end) {
  using Storage = typename Element::Storage;
  const Storage* const a = static_cast<const Storage*>(args.a) + row * args.a_row_stride + begin;
  const Storage* const b = static_cast<const Storage*>(args.b) + row * args.b_row_stride + begin;
  Storage* const y = static_cast<Storage*>(args.y) + row * args.y_row_stride + begin;
  for_each_vector(end - begin, [&](int64_t i, auto lanes) {
    const FloatVec gate = Element::load(a + i, lanes);
    const FloatVec silu = gate * logistic(gate).s;
    Element::store(y + i, silu * Element::load(b + i, lanes), lanes);
  });
}

// da and db may overwrite a and b: a vector of each is read before either is written.
template <typename Element, bool kWantDa, bool kWantDb>
void backward_columns(const SwigluBackwardArgs& args, int64_t row, int64_t begin, int64_t end) {
  using Storage = typename Element::Storage;
  const Storage* const dy = static_cast<const Storage*>(args.dy) + row * args.dy_row_stride + begin;
  const Storage* const a = static_cast<const Storage*>(args.a) + row * args.a_row_stride + begin;
  const Storage* const b = static_cast<const Storage*>(args.b) + row * args.b_row_stride + begin;
  Storage* const da =
      kWantDa ? static_cast<Storage*>(args.da) + row * args.da_row_stride + begin : nullptr;
  Storage* const db =
      kWantDb ? static_cast<Storage*>(args.db) + row * args.db_row_stride + begin : nullptr;
  for_each_vector(end - begin, [&](int64_t i, auto lanes) {
    const FloatVec g = Element::load(dy + i, lanes);
    const FloatVec gate = Element::load(a + i, lanes);
    const FloatVec up = Element::load(b + i, lanes);
    const Logistic sigma = logistic(gate);
    if constexpr (kWantDa) {
      // The slope lies in (-0.1, 1.1): formed first, it cannot overflow.
      const FloatVec slope = sigma.s * (1.0f + gate * sigma.complement);
      Element::store(da + i, g * (up * slope), lanes);
    }
    if constexpr (kWantDb) Element::store(db + i, g * (gate * sigma.s), lanes);
  });
}

template <typename Element>
void backward_wanted(const SwigluBackwardArgs& args, int64_t row, int64_t begin, int64_t end) {
  if (args.da != nullptr && args.db != nullptr) {
    backward_columns<Element, true, true>(args, row, begin, end);
  } else if (args.da != nullptr) {
    backward_columns<Element, true, false>(args, row, begin, end);
  } else if (args.db != nullptr) {
    backward_columns<Element, false, true>(args, row, begin, end);
  }
}

void forward(const SwigluForwardArgs& args, int64_t row, int64_t begin, int64_t end) {
  switch (args.type) {
    case ScalarType::kFloat32:
      return forward_columns<Float32>(args, row, begin, end);
    case ScalarType::kBFloat16:
      return forward_columns<BFloat16>(args, row, begin, end);
    case ScalarType::kFloat16:
      return forward_columns<Float16>(args, row, begin, end);
  }
}

void backward(const SwigluBackwardArgs& args, int64_t row, int64_t begin, int64_t end) {
  switch (args.type) {
    case ScalarType::kFloat32:
      return backward_wanted<Float32>(args, row, begin, end);
    case ScalarType::kBFloat16:
      return backward_wanted<BFloat16>(args, row, begin, end);
    case ScalarType::kFloat16:
      return backward_wanted<Float16>(args, row, begin, end);
  }
}

}  // namespace

extern const SwigluCpuKernels kSwiglu = {forward, backward};

}  // namespace tigon::TIGON_CPU_NAMESPACE
