// RMSNorm on the CPU: how the rows are shared out among threads.
//
// dweight is summed over blocks of rows whose number and size depend on the sizes alone, so its
// bits do not depend on the number of threads.
#include <algorithm>

#include "kernels/core/cpu/capability.h"
#include "kernels/core/cpu/parallel.h"
#include "kernels/rms_norm/rms_norm_cpu_impl.h"
#include "kernels/rms_norm/rms_norm_kernels.h"

namespace tigon {
namespace {

// Fewer elements than this are not worth another thread (LibTorch's own figure).
constexpr int64_t kElementsPerThread = 32768;
constexpr int64_t kMaxBlocks = 64;
constexpr int64_t kMinBlockRows = 8;
// A block of more rows sums them in spans of this many: the error of a chain of additions grows
// with its length.
constexpr int64_t kSpanRows = 256;

const RmsNormCpuKernels& kernels() {
  return select_by_cpu_capability(cpu_default::kRmsNorm, cpu_avx2::kRmsNorm, cpu_avx512::kRmsNorm);
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t grain(int64_t elements_per_item) {
  return divide_up(kElementsPerThread, std::max<int64_t>(elements_per_item, 1));
}

struct Blocks {
  int64_t rows, count, spans;  // spans: rows of workspace beside the partial sums

  explicit Blocks(int64_t total_rows) {
    const int64_t least = std::max(divide_up(total_rows, kMaxBlocks), kMinBlockRows);
    rows = divide_up(least, kMinBlockRows) * kMinBlockRows;
    count = divide_up(total_rows, rows);
    spans = rows > kSpanRows ? count : 0;
  }
};

}  // namespace

void rms_norm_forward_cpu(const RmsNormForwardArgs& args) {
  const RmsNormCpuKernels& run = kernels();
  parallel_for(args.rows, grain(args.hidden),
               [&](int64_t begin, int64_t end) { run.forward(args, begin, end); });
}

int64_t rms_norm_backward_workspace_cpu(const RmsNormBackwardArgs& args) {
  if (args.dweight == nullptr) return 0;
  const Blocks blocks(args.rows);
  return (blocks.count + blocks.spans) * args.hidden;
}

void rms_norm_backward_cpu(const RmsNormBackwardArgs& args) {
  if (args.hidden == 0 || (args.dx == nullptr && args.dweight == nullptr)) return;
  const RmsNormCpuKernels& run = kernels();
  if (args.dweight == nullptr) {
    parallel_for(args.rows, grain(args.hidden), [&](int64_t begin, int64_t end) {
      run.backward(args, begin, end, nullptr, nullptr, args.rows);
    });
    return;
  }
  const Blocks blocks(args.rows);
  parallel_for(blocks.count, grain(blocks.rows * args.hidden), [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      float* const partial = args.workspace + block * args.hidden;
      float* const span =
          blocks.spans > 0 ? args.workspace + (blocks.count + block) * args.hidden : nullptr;
      run.backward(args, block * blocks.rows, std::min((block + 1) * blocks.rows, args.rows),
                   partial, span, kSpanRows);
    }
  });
  parallel_for(args.hidden, grain(blocks.count), [&](int64_t begin, int64_t end) {
    run.reduce_dweight(args, args.workspace, blocks.count, begin, end);
  });
}

}  // namespace tigon
