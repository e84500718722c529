// How the pipelined kernel of RMSNorm's backward cuts up the work.
#pragma once

#include "kernels/rms_norm/rms_norm_device.cuh"

namespace tigon::cuda {

// Registers: 4 to 8 fp32 sums of dw per vector, and the weight.
inline constexpr int backward_max_threads(int vecs, RowSpan span) {
  if (span == RowSpan::kLanes || vecs == 8) return 256;
  return vecs == 4 ? 512 : vecs == 2 ? 768 : 1024;
}

// The ring; at the end it holds a row of fp32 sums for each group, unless the row is cut over a
// cluster.
inline int64_t backward_shared_bytes(const RowPlan& plan, int64_t hidden) {
  const int64_t ring = int64_t{plan.stages} * 2 * plan.vecs * plan.block_threads * 16;
  if (plan.span == RowSpan::kCluster) return ring;
  return std::max(ring, plan.block_threads / plan.threads_per_row * hidden * 4);
}

// Rows of workspace: one for each block's partial sums, and one for each group that must carry.
inline int64_t backward_workspace_rows(const RowPlan& plan, int64_t rows) {
  if (plan.blocks == 0) return 0;
  const int64_t groups = plan.blocks * (plan.block_threads / plan.threads_per_row);
  return plan.blocks + (ceil_div(rows, groups) >= kRowsPerBlockedSum ? groups : 0);
}

// blocks == 0: this width does not fit, take the streaming kernels. Depends on sizes and types
// only: the workspace's size follows from it. Two stages everywhere: in bf16 more were slower
// (hidden 4096: 63.2 us, with three 63.6; 8192: 114.3 and 115.4; 16384: 212.1 and 214.2); in fp32
// 4096 x 2048 did best with four, 35.9 us. Times: H200, cold L2, bf16 and 8192 rows if not said.
inline RowPlan plan_backward(const RmsNormBackwardArgs& args, const Device& device) {
  constexpr int kMostVecs = 2048;  // of a block: 4 for each of 512 threads, or 8 for each of 256
  const int64_t vecs = args.hidden * element_size(args.x_type) / 16;
  RowPlan plan;
  plan.stages = 2;
  if (vecs == 0) return plan;
  if (vecs <= 2 * kWarpSize) {
    // hidden 128: 73.7 us with two blocks on a multiprocessor.
    plan.span = RowSpan::kLanes;
    plan.vecs = 2;
    plan.threads_per_row = static_cast<int>(next_power_of_two(ceil_div(vecs, plan.vecs)));
    plan.block_threads = 256;
    const int64_t groups = plan.block_threads / plan.threads_per_row;
    plan.blocks = std::min(ceil_div(args.rows, groups), int64_t{2} * device.multiprocessors);
    return plan;
  }
  int64_t most_groups = 1;
  if (vecs > kMostVecs) {
    // 4096 x 16384 in fp32: 212 us.
    plan.span = RowSpan::kCluster;
    plan.vecs = 4;
    if (device.compute_major < 9 || vecs > kMaxCluster * kMostVecs) return plan;
    plan.cluster = static_cast<int>(next_power_of_two(ceil_div(vecs, kMostVecs)));
  } else {
    plan.span = RowSpan::kWarps;
    const int64_t rows_per_block = ceil_div(args.rows, device.multiprocessors);
    if (rows_per_block <= 2) {
      // All threads on one row: 256 x 2048 takes 8.8 us, 11.9 by 64 threads; x 8192 13.8 and 17.5.
      plan.vecs = vecs <= 512 ? 1 : vecs <= 1024 ? 2 : 4;
      most_groups = std::max<int64_t>(rows_per_block, 1);
    } else if (rows_per_block <= 16) {
      // 1024 x 2048: 12.6 us, with a fourth group 13.0; x 8192 25.5, with 4 vectors 25.7; x 16384
      // 41.3, with 8 vectors 44.1.
      plan.vecs = vecs <= 1024 ? 2 : 4;
      most_groups = 3;
    } else {
      // 1024: 8 groups of 64 threads 25.1 us, in 32 lanes 26.0. 2048: 5 of 128 37.4, 4 or 6 of them
      // 38.7 and 38.0. 2560: 4 of 160 44.6, 3 of them 45.3. 3584: 3 of 224 57.5. 4096: 3 of 256
      // 63.2, of 128 with 4 vectors 63.4. 5120: 2 of 320 77.6, of 160 with 4 vectors 78.1. 8192
      // wants 8 vectors: 2 of 128 114.3, of 256 with 4 vectors 116.5; 16384: 1 of 256 212.1, of 512
      // with 4 vectors 214.2. fp32, whose vectors hold half as many sums, stays at 4: 4096 x 4096
      // 60.7 us, with 8 63.3; x 8192 109.9 and 110.6.
      plan.vecs = vecs <= 768 ? 2 : args.x_type == ScalarType::kFloat32 ? 4 : 8;
      most_groups = vecs <= 192 ? 8 : 5;
    }
  }
  const int64_t threads = ceil_div(ceil_div(vecs, plan.cluster), plan.vecs);
  plan.threads_per_row = static_cast<int>(round_up(threads, kWarpSize));
  const int64_t groups = std::min<int64_t>(
      most_groups, backward_max_threads(plan.vecs, plan.span) / plan.threads_per_row);
  plan.block_threads = static_cast<int>(groups * plan.threads_per_row);
  const int64_t shared_bytes = device.shared_bytes_per_block - kStaticSharedBytes;
  if (backward_shared_bytes(plan, args.hidden) > shared_bytes) plan.stages = 1;
  if (backward_shared_bytes(plan, args.hidden) > shared_bytes) return plan;
  plan.blocks = std::min<int64_t>(args.rows, device.multiprocessors / plan.cluster);
  return plan;
}

}  // namespace tigon::cuda
