// Launchers of the SwiGLU kernels: raw pointers, sizes, strides and a stream; no framework.
//
//   y  = silu(a) * b                 silu(a) = a * s, s = 1 / (1 + exp(-a))
//   da = dy * b * s * (1 + a * (1 - s))
//   db = dy * silu(a)
//
// Source: Shazeer, "GLU Variants Improve Transformer" (2020). Everything in fp32, each result
// rounded once. The backward recomputes s from a: nothing but a and b is kept.
#pragma once

#include <cstdint>

#include "kernels/core/scalar_type.h"

typedef struct CUstream_st* cudaStream_t;

namespace tigon {

// All tensors are [rows, cols] of one type. Rows are `*_row_stride` elements apart (0 where a row
// is repeated); within a row the elements are adjacent. Pointers need only be aligned to their
// element.
struct SwigluForwardArgs {
  const void *a, *b;
  void* y;
  int64_t rows, cols, a_row_stride, b_row_stride, y_row_stride;
  ScalarType type;
};

// da may be the memory of dy or of a, db that of b. Either may be null: that gradient is not
// wanted.
struct SwigluBackwardArgs {
  const void *dy, *a, *b;
  void *da, *db;
  int64_t rows, cols, dy_row_stride, a_row_stride, b_row_stride, da_row_stride, db_row_stride;
  ScalarType type;
};

void swiglu_forward_cpu(const SwigluForwardArgs& args);
void swiglu_backward_cpu(const SwigluBackwardArgs& args);

// The current device must be the tensors' own. Launch errors throw std::runtime_error.
void swiglu_forward_cuda(const SwigluForwardArgs& args, cudaStream_t stream);
void swiglu_backward_cuda(const SwigluBackwardArgs& args, cudaStream_t stream);

}  // namespace tigon
