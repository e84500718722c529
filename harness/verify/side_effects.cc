#include "harness/verify/side_effects.h"

#include <fmt/format.h>

#include "harness/verify/guard.h"

namespace tigon::harness {
namespace {

std::string find_shared_memory(const PreparedCase& prepared, const Arguments& arguments,
                               const Run& run) {
  auto all = arguments.named(*prepared.op);
  const size_t first_result = all.size();
  const std::vector<std::string> names = tensor_names(prepared);
  for (size_t i = 0; i < run.outputs.size(); ++i) all.emplace_back(names[i], run.outputs[i]);
  for (size_t i = 0; i < run.gradients.size(); ++i) {
    all.emplace_back(names[run.outputs.size() + i], run.gradients[i]);
  }
  for (size_t i = first_result; i < all.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const at::Tensor &a = all[k].second, &b = all[i].second;
      if (!a.defined() || !b.defined() || a.numel() == 0 || b.numel() == 0) continue;
      if (a.is_alias_of(b))
        return fmt::format("{} shares memory with {}", all[i].first, all[k].first);
    }
  }
  return "";
}

}  // namespace

Run run_guarded(const PreparedCase& prepared, const Program::Forward& forward, unsigned char fill) {
  GuardScope guard(prepared.device, fill);
  const Arguments arguments = copy_arguments(prepared);
  Run run = run_once(prepared, arguments, forward);
  run.fault = find_shared_memory(prepared, arguments, run);
  const std::vector<std::string> violations = guard.violations();
  if (run.fault.empty() && !violations.empty()) run.fault = violations.front();
  if (run.fault.empty()) run.fault = find_changed_argument(prepared, arguments);
  return run;
}

}  // namespace tigon::harness
