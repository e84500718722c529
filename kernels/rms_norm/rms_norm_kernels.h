// Launchers of the RMSNorm kernels: raw pointers, sizes, strides and a stream; no framework.
//
//   r = 1 / sqrt(mean(x^2) + eps)                              per row, in fp32
//   y = x * r * (offset + w)
//   m = dy * (offset + w)
//   dx = r * m - (r^3 / hidden) * sum(m * x) * x
//   dw = sum over rows of dy * (x * r)
//
// Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019); the roundings follow
// the casting modes of Liger-Kernel:
//   kLlama  x * r is rounded to x's type before the product with (offset + w), which is formed in
//           w's type; the product is rounded once more. dw uses the rounded x * r.
//   kGemma  everything in fp32, one rounding at the end.
//   kNone   r is rounded to x's type; the rest in fp32, one rounding at the end.
// All sums are kept in fp32, blocked or pairwise, in an order that depends on the sizes alone:
// the same input gives the same bits. No floating-point atomics.
#pragma once

#include <cstdint>

#include "kernels/core/scalar_type.h"

typedef struct CUstream_st* cudaStream_t;

namespace tigon {

enum class RmsNormCasting { kLlama, kGemma, kNone };

// Rows are `*_row_stride` elements apart (0 where a row is repeated); within a row the elements are
// adjacent. Outputs are contiguous [rows, hidden]. Pointers need only be aligned to their element.
// rows or hidden may be 0. weight_type is x_type or kFloat32.
struct RmsNormForwardArgs {
  const void* x;       // [rows, hidden] of x_type
  const void* weight;  // [hidden] of weight_type, or null: no affine part, offset is not used
  void* y;             // [rows, hidden] of x_type
  float* rstd;         // [rows]: r as it was used (for kNone: after rounding)
  int64_t rows, hidden, x_row_stride;
  ScalarType x_type, weight_type;
  RmsNormCasting casting;
  float eps, offset;
};

// dx may be the same memory as dy when dy is contiguous (each element of dy is read before dx is
// written there). dx or dweight may be null: that gradient is not wanted.
struct RmsNormBackwardArgs {
  const void* dy;      // [rows, hidden] of x_type
  const void* x;       // [rows, hidden] of x_type
  const void* weight;  // [hidden] of weight_type, or null
  const float* rstd;   // [rows], from the forward
  void* dx;            // [rows, hidden] of x_type, or null
  void* dweight;       // [hidden] of weight_type, or null; written even when rows is 0
  float* workspace;    // rms_norm_backward_workspace_*() floats
  int64_t rows, hidden, dy_row_stride, x_row_stride;
  ScalarType x_type, weight_type;
  RmsNormCasting casting;
  float offset;
};

void rms_norm_forward_cpu(const RmsNormForwardArgs& args);
void rms_norm_backward_cpu(const RmsNormBackwardArgs& args);
// Floats of workspace that the backward wants; depends on the fields other than the pointers, on
// whether dweight is null and, on the CPU, on at::get_num_threads().
int64_t rms_norm_backward_workspace_cpu(const RmsNormBackwardArgs& args);

// The current device must be the tensors' own. Launch errors throw std::runtime_error.
void rms_norm_forward_cuda(const RmsNormForwardArgs& args, cudaStream_t stream);
void rms_norm_backward_cuda(const RmsNormBackwardArgs& args, cudaStream_t stream);
int64_t rms_norm_backward_workspace_cuda(const RmsNormBackwardArgs& args);

}  // namespace tigon
