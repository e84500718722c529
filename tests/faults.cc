// Operators that bring their process down, or to a standstill, in the ways that kernels do.
#include <ATen/ops/empty.h>
#include <signal.h>
#include <torch/library.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/with_gradient.h"

namespace tigon::synthetic {
namespace {

using at::Tensor;

Tensor good(const Tensor& x) { return with_gradient(x, doubled(x), doubled_gradient); }

Tensor segfaults(const Tensor& x) {
  auto* nowhere =
      reinterpret_cast<volatile char*>(x.numel());  // small: in the page that is never there
  *nowhere = 1;
  return x;
}

Tensor aborts(const Tensor&) { std::abort(); }

// Leaves without a signal, as a library does that calls exit() on an error.
Tensor exits(const Tensor&) { _exit(3); }

Tensor hangs(const Tensor& x) {
  while (x.defined()) pause();
  return x;
}

// Address space alone: nothing is written, so that the machine's other processes keep their memory.
Tensor exhausts_memory(const Tensor& x) {
  constexpr size_t kBlock = size_t{1} << 30;
  std::vector<std::unique_ptr<char[]>> blocks;
  while (x.defined()) blocks.emplace_back(new char[kBlock]);
  return x;
}

Tensor wants_too_much(const Tensor& x) { return at::empty({int64_t{1} << 50}, x.options()); }

Tensor throws(const Tensor&) {
  throw std::runtime_error("the synthetic operator throws,\nover two lines");
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(tigon_synthetic, m) {
  const auto define = [&m](const char* name, Tensor (*op)(const Tensor&)) {
    m.def((std::string(name) + "(Tensor x) -> Tensor").c_str(), op);
  };
  define("good", good);
  define("segfaults", segfaults);
  define("aborts", aborts);
  define("exits", exits);
  define("hangs", hangs);
  define("exhausts_memory", exhausts_memory);
  define("wants_too_much", wants_too_much);
  define("throws", throws);
}

}  // namespace tigon::synthetic
