// Twins of the synthetic operator `good_at_the_end`: one that is broken, one that brings its
// process down, and one that is not broken at all, which has to survive.
#include <signal.h>
#include <torch/library.h>

#include "tests/with_gradient.h"

namespace tigon::synthetic {
namespace {

using at::Tensor;

Tensor right(const Tensor& x) { return with_gradient(x, doubled(x), doubled_gradient); }

Tensor wrong(const Tensor& x) { return x.mul(3); }

Tensor crashes(const Tensor& x) {
  raise(SIGSEGV);
  return x;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(tigon_mutants, m) {
  m.def("good_at_the_end.right(Tensor x) -> Tensor", right);
  m.def("good_at_the_end.wrong(Tensor x) -> Tensor", wrong);
  m.def("good_at_the_end.crashes(Tensor x) -> Tensor", crashes);
}

}  // namespace tigon::synthetic
