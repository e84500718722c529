// SwiGLU on the CPU: how the elements are shared out among threads.
#include <algorithm>

#include "kernels/core/cpu/capability.h"
#include "kernels/core/cpu/parallel.h"
#include "kernels/swiglu/swiglu_cpu_impl.h"
#include "kernels/swiglu/swiglu_kernels.h"

namespace tigon {
namespace {

constexpr int64_t kPieceColumns = 4096;
// Fewer elements than this are not worth another thread.
constexpr int64_t kElementsPerThread = 16384;

const SwigluCpuKernels& kernels() {
  return select_by_cpu_capability(cpu_default::kSwiglu, cpu_avx2::kSwiglu, cpu_avx512::kSwiglu);
}

// Calls body(row, column_begin, column_end) for pieces that cover rows x cols.
template <typename Body>
void for_each_piece(int64_t rows, int64_t cols, const Body& body) {
  if (rows == 0 || cols == 0) return;
  const int64_t piece = std::min(cols, kPieceColumns);
  const int64_t pieces_per_row = (cols + piece - 1) / piece;
  parallel_for(rows * pieces_per_row, std::max<int64_t>(kElementsPerThread / piece, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t column = i % pieces_per_row * piece;
                   body(i / pieces_per_row, column, std::min(column + piece, cols));
                 }
               });
}

}  // namespace

void swiglu_forward_cpu(const SwigluForwardArgs& args) {
  const SwigluCpuKernels& run = kernels();
  SwigluForwardArgs flat = args;
  const int64_t n = args.cols;
  if (args.a_row_stride == n && args.b_row_stride == n && args.y_row_stride == n) {
    flat.rows = args.rows > 0 ? 1 : 0;
    flat.cols = args.rows * n;
  }
  for_each_piece(flat.rows, flat.cols, [&](int64_t row, int64_t begin, int64_t end) {
    run.forward(flat, row, begin, end);
  });
}

void swiglu_backward_cpu(const SwigluBackwardArgs& args) {
  if (args.da == nullptr && args.db == nullptr) return;
  const SwigluCpuKernels& run = kernels();
  SwigluBackwardArgs flat = args;
  const int64_t n = args.cols;
  if (args.dy_row_stride == n && args.a_row_stride == n && args.b_row_stride == n &&
      (args.da == nullptr || args.da_row_stride == n) &&
      (args.db == nullptr || args.db_row_stride == n)) {
    flat.rows = args.rows > 0 ? 1 : 0;
    flat.cols = args.rows * n;
  }
  for_each_piece(flat.rows, flat.cols, [&](int64_t row, int64_t begin, int64_t end) {
    run.backward(flat, row, begin, end);
  });
}

}  // namespace tigon
