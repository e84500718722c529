// RMSNorm on the CPU, compiled once for each capability (kernels/core/cpu/capability.h).
//
// A group of rows that fits in the cache is read twice: once for the sums, once for the results.
// Both passes go tile by tile, so that the weight is converted to fp32 once for a group and the
// tile of its gradient stays in the first-level cache. A row's sum is taken tile by tile as well,
// which keeps every chain of additions short.
#include "kernels/rms_norm/rms_norm_cpu_impl.h"

#include "kernels/core/cpu/element.h"
#include "kernels/core/cpu/simd.h"

namespace tigon::TIGON_CPU_NAMESPACE {
namespace {

constexpr int64_t kTile = 1024;   // columns
constexpr int64_t kMaxGroup = 8;  // rows
// Bytes of input in a group: with the output and the weight, within a 1 MiB second-level cache.
constexpr int64_t kGroupBytes = int64_t{384} * 1024;

TIGON_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// A function of the width alone: the sum of dweight is grouped by it.
TIGON_INLINE int64_t group_rows(int64_t bytes_per_row) {
  const int64_t fitting = kGroupBytes / (bytes_per_row + 1);
  return fitting < 1 ? 1 : smaller(fitting, kMaxGroup);
}

// offset + weight in fp32 for the columns [begin, begin + count), rounded to the weight's type
// where the casting mode forms it there; 1 without a weight.
template <typename Element>
TIGON_INLINE void convert_weight(const void* weight, int64_t begin, int64_t count, float offset,
                                 bool round, float* out) {
  const auto* w = static_cast<const typename Element::Storage*>(weight) + begin;
  const FloatVec offsets = broadcast(offset);
  for_each_vector(count, [&](int64_t i, auto lanes) {
    const FloatVec sum = offsets + Element::load(w + i, lanes);
    Float32::store(out + i, round ? Element::round(sum) : sum, lanes);
  });
}

template <typename Element, typename Args>
TIGON_INLINE void weight_tile(const Args& args, int64_t begin, int64_t count, float* out) {
  const bool round = args.casting == RmsNormCasting::kLlama;
  if (args.weight == nullptr) {
    for_each_vector(
        count, [&](int64_t i, auto lanes) { Float32::store(out + i, broadcast(1.0f), lanes); });
  } else if (args.weight_type == ScalarType::kFloat32) {
    convert_weight<Float32>(args.weight, begin, count, args.offset, false, out);
  } else {
    convert_weight<Element>(args.weight, begin, count, args.offset, round, out);
  }
}

// kRoundNormed: x * r is rounded to x's type before it meets the weight (kLlama).
template <typename Element, bool kRoundNormed>
TIGON_INLINE FloatVec normed(FloatVec x, float r) {
  const FloatVec product = x * r;
  return kRoundNormed ? Element::round(product) : product;
}

template <typename Element, bool kRoundNormed>
void forward_rows(const RmsNormForwardArgs& args, int64_t row_begin, int64_t row_end) {
  using Storage = typename Element::Storage;
  const int64_t hidden = args.hidden;
  const int64_t group = group_rows(hidden * sizeof(Storage));
  const Storage* const x = static_cast<const Storage*>(args.x);
  Storage* const y = static_cast<Storage*>(args.y);
  alignas(64) float weight[kTile];

  for (int64_t first = row_begin; first < row_end; first += group) {
    const int64_t last = smaller(first + group, row_end);
    for (int64_t row = first; row < last; ++row) {
      FloatVec sum{};
      for (int64_t begin = 0; begin < hidden; begin += kTile) {
        const Storage* const x_tile = x + row * args.x_row_stride + begin;
        sum += sum_of_vectors(smaller(kTile, hidden - begin), [&](int64_t i, auto lanes) {
          const FloatVec v = Element::load(x_tile + i, lanes);
          return v * v;
        });
      }
      const float mean = hidden > 0 ? sum_of_lanes(sum) / static_cast<float>(hidden) : 0.0f;
      const float r = 1.0f / __builtin_sqrtf(mean + args.eps);
      args.rstd[row] = args.casting == RmsNormCasting::kNone ? round_scalar<Element>(r) : r;
    }
    for (int64_t begin = 0; begin < hidden; begin += kTile) {
      const int64_t count = smaller(kTile, hidden - begin);
      weight_tile<Element>(args, begin, count, weight);
      for (int64_t row = first; row < last; ++row) {
        const float r = args.rstd[row];
        const Storage* const x_tile = x + row * args.x_row_stride + begin;
        Storage* const y_tile = y + row * hidden + begin;
        for_each_vector(count, [&](int64_t i, auto lanes) {
          const FloatVec n = normed<Element, kRoundNormed>(Element::load(x_tile + i, lanes), r);
          Element::store(y_tile + i, n * Float32::load(weight + i, lanes), lanes);
        });
      }
    }
  }
}

enum class Start { kSet, kAdd };

TIGON_INLINE void accumulate(float* to, const float* from, int64_t count, Start start) {
  if (start == Start::kSet) {
    for_each_vector(count, [&](int64_t i, auto lanes) {
      Float32::store(to + i, Float32::load(from + i, lanes), lanes);
    });
  } else {
    for_each_vector(count, [&](int64_t i, auto lanes) {
      const FloatVec sum = Float32::load(to + i, lanes) + Float32::load(from + i, lanes);
      Float32::store(to + i, sum, lanes);
    });
  }
}

// One group of rows: dx, and its sum for dweight set in or added to `sum`.
template <typename Element, bool kRoundNormed, bool kWantDx, bool kWantDweight>
void backward_group(const RmsNormBackwardArgs& args, int64_t first, int64_t last, float* sum,
                    Start start) {
  using Storage = typename Element::Storage;
  const int64_t hidden = args.hidden;
  const Storage* const dy = static_cast<const Storage*>(args.dy);
  const Storage* const x = static_cast<const Storage*>(args.x);
  Storage* const dx = static_cast<Storage*>(args.dx);
  alignas(64) float weight[kTile];
  alignas(64) float dweight[kTile];
  FloatVec sums[kMaxGroup] = {};
  float projections[kMaxGroup] = {};  // r * mean(m * x)

  if constexpr (kWantDx) {
    for (int64_t begin = 0; begin < hidden; begin += kTile) {
      const int64_t count = smaller(kTile, hidden - begin);
      weight_tile<Element>(args, begin, count, weight);
      for (int64_t row = first; row < last; ++row) {
        const Storage* const dy_tile = dy + row * args.dy_row_stride + begin;
        const Storage* const x_tile = x + row * args.x_row_stride + begin;
        sums[row - first] += sum_of_vectors(count, [&](int64_t i, auto lanes) {
          const FloatVec m = Element::load(dy_tile + i, lanes) * Float32::load(weight + i, lanes);
          return m * Element::load(x_tile + i, lanes);
        });
      }
    }
    for (int64_t row = first; row < last; ++row) {
      projections[row - first] =
          args.rstd[row] * (sum_of_lanes(sums[row - first]) / static_cast<float>(hidden));
    }
  }

  for (int64_t begin = 0; begin < hidden; begin += kTile) {
    const int64_t count = smaller(kTile, hidden - begin);
    if constexpr (kWantDx) weight_tile<Element>(args, begin, count, weight);
    for (int64_t row = first; row < last; ++row) {
      const float r = args.rstd[row];
      const float projection = projections[row - first];
      const bool first_row = row == first;
      const Storage* const dy_tile = dy + row * args.dy_row_stride + begin;
      const Storage* const x_tile = x + row * args.x_row_stride + begin;
      Storage* const dx_tile = kWantDx ? dx + row * hidden + begin : nullptr;
      for_each_vector(count, [&](int64_t i, auto lanes) {
        const FloatVec g = Element::load(dy_tile + i, lanes);
        const FloatVec n = Element::load(x_tile + i, lanes) * r;
        if constexpr (kWantDweight) {
          const FloatVec rounded = kRoundNormed ? Element::round(n) : n;
          const FloatVec before = first_row ? FloatVec{} : Float32::load(dweight + i, lanes);
          Float32::store(dweight + i, before + g * rounded, lanes);
        }
        if constexpr (kWantDx) {
          // r^3 is never formed: it leaves fp32's range long before the result does.
          const FloatVec m = g * Float32::load(weight + i, lanes);
          Element::store(dx_tile + i, r * (m - n * projection), lanes);
        }
      });
    }
    if constexpr (kWantDweight) accumulate(sum + begin, dweight, count, start);
  }
}

template <typename Element, bool kRoundNormed, bool kWantDx, bool kWantDweight>
void backward_rows(const RmsNormBackwardArgs& args, int64_t row_begin, int64_t row_end,
                   float* partial, float* span, int64_t span_rows) {
  const int64_t group = group_rows(2 * args.hidden * sizeof(typename Element::Storage));
  for (int64_t begin = row_begin; begin < row_end; begin += span_rows) {
    const int64_t end = smaller(begin + span_rows, row_end);
    const Start span_start = begin == row_begin ? Start::kSet : Start::kAdd;
    float* const sum = span_start == Start::kSet ? partial : span;
    for (int64_t first = begin; first < end; first += group) {
      backward_group<Element, kRoundNormed, kWantDx, kWantDweight>(
          args, first, smaller(first + group, end), sum,
          first == begin ? Start::kSet : Start::kAdd);
    }
    if (kWantDweight && span_start == Start::kAdd) {
      accumulate(partial, span, args.hidden, Start::kAdd);
    }
  }
}

template <typename Element, bool kRoundNormed>
void backward_wanted(const RmsNormBackwardArgs& args, int64_t row_begin, int64_t row_end,
                     float* partial, float* span, int64_t span_rows) {
  const auto rows = args.dweight == nullptr ? backward_rows<Element, kRoundNormed, true, false>
                    : args.dx == nullptr    ? backward_rows<Element, kRoundNormed, false, true>
                                            : backward_rows<Element, kRoundNormed, true, true>;
  rows(args, row_begin, row_end, partial, span, span_rows);
}

void forward(const RmsNormForwardArgs& args, int64_t row_begin, int64_t row_end) {
  const bool llama = args.casting == RmsNormCasting::kLlama;
  switch (args.x_type) {
    case ScalarType::kFloat32:
      return forward_rows<Float32, false>(args, row_begin, row_end);
    case ScalarType::kBFloat16:
      return llama ? forward_rows<BFloat16, true>(args, row_begin, row_end)
                   : forward_rows<BFloat16, false>(args, row_begin, row_end);
    case ScalarType::kFloat16:
      return llama ? forward_rows<Float16, true>(args, row_begin, row_end)
                   : forward_rows<Float16, false>(args, row_begin, row_end);
  }
}

void backward(const RmsNormBackwardArgs& args, int64_t row_begin, int64_t row_end, float* partial,
              float* span, int64_t span_rows) {
  const bool llama = args.casting == RmsNormCasting::kLlama;
  switch (args.x_type) {
    case ScalarType::kFloat32:
      return backward_wanted<Float32, false>(args, row_begin, row_end, partial, span, span_rows);
    case ScalarType::kBFloat16:
      return llama ? backward_wanted<BFloat16, true>(args, row_begin, row_end, partial, span,
                                                     span_rows)
                   : backward_wanted<BFloat16, false>(args, row_begin, row_end, partial, span,
                                                      span_rows);
    case ScalarType::kFloat16:
      return llama ? backward_wanted<Float16, true>(args, row_begin, row_end, partial, span,
                                                    span_rows)
                   : backward_wanted<Float16, false>(args, row_begin, row_end, partial, span,
                                                     span_rows);
  }
}

template <typename Element>
void store_dweight(void* dweight, const float* sum, int64_t begin, int64_t count) {
  auto* const out = static_cast<typename Element::Storage*>(dweight) + begin;
  for_each_vector(count, [&](int64_t i, auto lanes) {
    Element::store(out + i, Float32::load(sum + i, lanes), lanes);
  });
}

void reduce_dweight(const RmsNormBackwardArgs& args, float* partials, int64_t count,
                    int64_t column_begin, int64_t column_end) {
  static const float kZeros[kTile] = {};
  for (int64_t begin = column_begin; begin < column_end; begin += kTile) {
    const int64_t columns = smaller(kTile, column_end - begin);
    for (int64_t step = 1; step < count; step *= 2) {
      for (int64_t k = 0; k + step < count; k += 2 * step) {
        accumulate(partials + k * args.hidden + begin, partials + (k + step) * args.hidden + begin,
                   columns, Start::kAdd);
      }
    }
    const float* const sum = count > 0 ? partials + begin : kZeros;
    switch (args.weight_type) {
      case ScalarType::kFloat32:
        store_dweight<Float32>(args.dweight, sum, begin, columns);
        break;
      case ScalarType::kBFloat16:
        store_dweight<BFloat16>(args.dweight, sum, begin, columns);
        break;
      case ScalarType::kFloat16:
        store_dweight<Float16>(args.dweight, sum, begin, columns);
        break;
    }
  }
}

}  // namespace

extern const RmsNormCpuKernels kRmsNorm = {forward, backward, reduce_dweight};

}  // namespace tigon::TIGON_CPU_NAMESPACE
