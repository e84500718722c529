// SwiGLU on CUDA: pure streaming, so the kernels are shaped by the memory system alone.
//
//   flat     Every tensor is one run of memory: blocks of consecutive 16-byte vectors, one per
//            thread and tensor in flight, no loop; the last block takes what is left over.
//   by rows  Strided rows (say, the halves of one [rows, 2 * cols] projection): the same over
//            columns, each block walking down the rows.
//
// Where a pointer or a stride is not a multiple of 16 bytes, the same kernels go element by
// element. Any output may be the memory of an input of its own shape: a thread reads all it needs
// of its elements before it writes them. So no pointer here is __restrict__.
#include "kernels/core/cuda/launch.cuh"
#include "kernels/core/cuda/vec.cuh"
#include "kernels/swiglu/swiglu_kernels.h"

namespace tigon::cuda {
namespace {

constexpr int kThreads = 256;
// Accesses per thread and tensor. One 16-byte access: 98 % of a copy of the same bytes on an H200;
// two or four 92 to 93 %, as the blocks then reach over a wider window of memory.
constexpr int kVectorUnroll = 1;
constexpr int kElementUnroll = 4;

struct Sigmoid {
  float value;       // s
  float complement;  // 1 - s, without cancellation
};

// From exp(-|a|), which lies in (0, 1]: nothing overflows, and the reciprocal of a number in (1, 2]
// is safe to take with the fast instruction (1 ulp). About 2 ulp in all.
__device__ __forceinline__ Sigmoid sigmoid(float a) {
  const float e = expf(-fabsf(a));
  const float larger = __fdividef(1.0f, 1.0f + e);
  const float smaller = e * larger;
  return a < 0.0f ? Sigmoid{smaller, larger} : Sigmoid{larger, smaller};
}

__device__ __forceinline__ float swiglu(float a, float b) { return a * sigmoid(a).value * b; }

struct Gradients {
  float a, b;
};

__device__ __forceinline__ Gradients swiglu_gradients(float dy, float a, float b) {
  const Sigmoid s = sigmoid(a);
  return {dy * b * (s.value * fmaf(a, s.complement, 1.0f)), dy * (a * s.value)};
}

// One access: a 16-byte vector or a single element.
template <typename T, bool kVector>
struct Access {
  static constexpr int kWidth = kVector ? kVecSize<T> : 1;
  Vec<T, kVecSize<T>> vec;
  T element;

  __device__ __forceinline__ void load(const T* address) {
    if constexpr (kVector) {
      vec = load_vec<kWidth>(address);
    } else {
      element = *address;
    }
  }
  __device__ __forceinline__ void get(float (&values)[kWidth]) const {
    if constexpr (kVector) {
      unpack(vec, values);
    } else {
      values[0] = to_float(element);
    }
  }
  static __device__ __forceinline__ void store(T* address, const float (&values)[kWidth]) {
    if constexpr (kVector) {
      store_vec(address, pack<T, kWidth>(values));
    } else {
      *address = from_float<T>(values[0]);
    }
  }
};

// The offset of an access in each tensor; in the flat kernels all are the same.
template <typename T>
struct Forward {
  const T *a, *b;
  T* y;
  int64_t a_row_stride, b_row_stride, y_row_stride;

  template <bool kVector, int kUnroll>
  __device__ __forceinline__ void apply(int64_t row, const int64_t (&columns)[kUnroll],
                                        int64_t end) const {
    using Item = Access<T, kVector>;
    const int64_t a_row = row * a_row_stride, b_row = row * b_row_stride,
                  y_row = row * y_row_stride;
    Item as[kUnroll], bs[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (columns[i] >= end) continue;
      as[i].load(a + a_row + columns[i]);
      bs[i].load(b + b_row + columns[i]);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (columns[i] >= end) continue;
      float a_values[Item::kWidth], b_values[Item::kWidth];
      as[i].get(a_values);
      bs[i].get(b_values);
#pragma unroll
      for (int k = 0; k < Item::kWidth; ++k) a_values[k] = swiglu(a_values[k], b_values[k]);
      Item::store(y + y_row + columns[i], a_values);
    }
  }
};

template <typename T>
struct Backward {
  const T *dy, *a, *b;
  T *da, *db;  // null: not wanted
  int64_t dy_row_stride, a_row_stride, b_row_stride, da_row_stride, db_row_stride;

  template <bool kVector, int kUnroll>
  __device__ __forceinline__ void apply(int64_t row, const int64_t (&columns)[kUnroll],
                                        int64_t end) const {
    using Item = Access<T, kVector>;
    const int64_t dy_row = row * dy_row_stride, a_row = row * a_row_stride,
                  b_row = row * b_row_stride;
    Item dys[kUnroll], as[kUnroll], bs[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (columns[i] >= end) continue;
      dys[i].load(dy + dy_row + columns[i]);
      as[i].load(a + a_row + columns[i]);
      bs[i].load(b + b_row + columns[i]);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (columns[i] >= end) continue;
      float dy_values[Item::kWidth], a_values[Item::kWidth], b_values[Item::kWidth];
      dys[i].get(dy_values);
      as[i].get(a_values);
      bs[i].get(b_values);
#pragma unroll
      for (int k = 0; k < Item::kWidth; ++k) {
        const Gradients gradients = swiglu_gradients(dy_values[k], a_values[k], b_values[k]);
        a_values[k] = gradients.a;
        b_values[k] = gradients.b;
      }
      if (da != nullptr) Item::store(da + row * da_row_stride + columns[i], a_values);
      if (db != nullptr) Item::store(db + row * db_row_stride + columns[i], b_values);
    }
  }
};

// Elements [0, end) of one run of memory. With kVector the last end % width elements are left to
// the first threads of the last block, which has most time.
template <template <typename> typename Pass, typename T, bool kVector, int kUnroll>
__global__ void __launch_bounds__(kThreads) swiglu_flat(const Pass<T> pass, const int64_t count) {
  constexpr int kWidth = Access<T, kVector>::kWidth;
  const int64_t end = count / kWidth * kWidth;
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * kUnroll * kThreads + threadIdx.x);
  int64_t columns[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) columns[i] = (first + i * kThreads) * kWidth;
  pass.template apply<kVector>(0, columns, end);
  if constexpr (kVector) {
    if (blockIdx.x != gridDim.x - 1 || threadIdx.x >= count - end) return;
    const int64_t column[1] = {end + threadIdx.x};
    pass.template apply<false>(0, column, count);
  }
}

// blockDim.x threads side by side on a row, blockDim.y rows; a grid's y walks down the rows.
template <template <typename> typename Pass, typename T, bool kVector, int kUnroll>
__global__ void __launch_bounds__(kThreads)
    swiglu_by_rows(const Pass<T> pass, const int64_t rows, const int64_t cols) {
  constexpr int kWidth = Access<T, kVector>::kWidth;
  const int64_t end = cols / kWidth * kWidth;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kUnroll * blockDim.x + threadIdx.x;
  int64_t columns[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) columns[i] = (first + i * blockDim.x) * kWidth;
  const int64_t step = static_cast<int64_t>(gridDim.y) * blockDim.y;
  for (int64_t row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; row < rows;
       row += step) {
    pass.template apply<kVector>(row, columns, end);
    if constexpr (kVector) {
      if (blockIdx.x != gridDim.x - 1) continue;
      for (int64_t c = end + threadIdx.x; c < cols; c += blockDim.x) {
        const int64_t column[1] = {c};
        pass.template apply<false>(row, column, cols);
      }
    }
  }
}

template <template <typename> typename Pass, typename T, bool kVector>
void launch_pass(const char* name, const Pass<T>& pass, int64_t rows, int64_t cols, bool flat,
                 cudaStream_t stream) {
  constexpr int kUnroll = kVector ? kVectorUnroll : kElementUnroll;
  constexpr int kWidth = Access<T, kVector>::kWidth;
  LaunchShape shape;
  if (flat) {  // a grid's x is enough for 10^12 elements
    shape.block = kThreads;
    shape.grid = static_cast<unsigned>(ceil_div(rows * cols, int64_t{kThreads} * kUnroll * kWidth));
    launch<swiglu_flat<Pass, T, kVector, kUnroll>>(name, shape, stream, pass, rows * cols);
    return;
  }
  const int64_t accesses = std::max<int64_t>(1, cols / kWidth);
  const int64_t across =
      std::min<int64_t>(kThreads, next_power_of_two(ceil_div(accesses, kUnroll)));
  shape.block = dim3(static_cast<unsigned>(across), static_cast<unsigned>(kThreads / across));
  shape.grid = dim3(static_cast<unsigned>(ceil_div(accesses, across * kUnroll)),
                    static_cast<unsigned>(std::min(ceil_div(rows, kThreads / across), kMaxGridY)));
  launch<swiglu_by_rows<Pass, T, kVector, kUnroll>>(name, shape, stream, pass, rows, cols);
}

struct Layout {
  bool aligned = true, flat = true;
  void add(const void* pointer, int64_t row_stride, int64_t rows, int64_t cols, ScalarType type) {
    if (pointer == nullptr) return;
    if (rows > 1) {
      flat = flat && row_stride == cols;
      // Flat tensors may have rows of any length: only the base must be aligned.
      strides_aligned = strides_aligned && row_stride * element_size(type) % 16 == 0;
    }
    aligned = aligned && aligned_16(pointer);
  }
  bool vector() const { return aligned && (flat || strides_aligned); }

 private:
  bool strides_aligned = true;
};

template <template <typename> typename Pass, typename T>
void launch_pass(const char* name, const Pass<T>& pass, int64_t rows, int64_t cols,
                 const Layout& layout, cudaStream_t stream) {
  if (layout.vector()) {
    launch_pass<Pass, T, true>(name, pass, rows, cols, layout.flat, stream);
  } else {
    launch_pass<Pass, T, false>(name, pass, rows, cols, layout.flat, stream);
  }
}

}  // namespace
}  // namespace tigon::cuda

namespace tigon {

void swiglu_forward_cuda(const SwigluForwardArgs& args, cudaStream_t stream) {
  if (args.rows == 0 || args.cols == 0) return;
  cuda::Layout layout;
  layout.add(args.a, args.a_row_stride, args.rows, args.cols, args.type);
  layout.add(args.b, args.b_row_stride, args.rows, args.cols, args.type);
  layout.add(args.y, args.y_row_stride, args.rows, args.cols, args.type);
  cuda::dispatch_type(args.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const cuda::Forward<T> pass = {static_cast<const T*>(args.a),
                                   static_cast<const T*>(args.b),
                                   static_cast<T*>(args.y),
                                   args.a_row_stride,
                                   args.b_row_stride,
                                   args.y_row_stride};
    cuda::launch_pass("swiglu_forward", pass, args.rows, args.cols, layout, stream);
  });
}

void swiglu_backward_cuda(const SwigluBackwardArgs& args, cudaStream_t stream) {
  if (args.rows == 0 || args.cols == 0 || (args.da == nullptr && args.db == nullptr)) return;
  cuda::Layout layout;
  layout.add(args.dy, args.dy_row_stride, args.rows, args.cols, args.type);
  layout.add(args.a, args.a_row_stride, args.rows, args.cols, args.type);
  layout.add(args.b, args.b_row_stride, args.rows, args.cols, args.type);
  layout.add(args.da, args.da_row_stride, args.rows, args.cols, args.type);
  layout.add(args.db, args.db_row_stride, args.rows, args.cols, args.type);
  cuda::dispatch_type(args.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const cuda::Backward<T> pass = {static_cast<const T*>(args.dy),
                                    static_cast<const T*>(args.a),
                                    static_cast<const T*>(args.b),
                                    static_cast<T*>(args.da),
                                    static_cast<T*>(args.db),
                                    args.dy_row_stride,
                                    args.a_row_stride,
                                    args.b_row_stride,
                                    args.da_row_stride,
                                    args.db_row_stride};
    cuda::launch_pass("swiglu_backward", pass, args.rows, args.cols, layout, stream);
  });
}

}  // namespace tigon
