#include "harness/verify/truth.h"

#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <stdexcept>

#include "harness/eigen_bridge.h"
#include "harness/verify/layout.h"
#include "harness/verify/program.h"
#include "reference/eigen/gradient_check.h"

namespace tigon::harness {
namespace {

// About a second of the reference on one core. On a GPU the way to the CPU and back counts too.
constexpr int64_t kEigenElementsCpu = int64_t{1} << 25;
constexpr int64_t kEigenElementsCuda = int64_t{1} << 22;
// Central differences take 48 forwards per element.
constexpr int64_t kDifferenceElements = 48;
// Two right computations in double part by rounding alone; what they disagree on is far larger.
constexpr double kAgreement = 1e-8;
constexpr double kDifferenceAgreement = 1e-5;

int64_t input_elements(const Inputs& inputs) {
  int64_t total = 0;
  for (const Input& input : inputs.all()) total += input.tensor.numel();
  return total;
}

std::vector<at::Tensor> upstream_in_double(const PreparedCase& prepared, c10::Device device) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& tensor : prepared.upstream) {
    result.push_back(tensor.detach().to(device).contiguous().to(at::kDouble));
  }
  return result;
}

at::Tensor named(const Tensors& tensors, const std::string& name, const char* what) {
  for (const auto& [n, tensor] : tensors) {
    if (n == name) return tensor;
  }
  throw std::logic_error(fmt::format("the reference gave no {} \"{}\"", what, name));
}

CaseTruth eigen_truth(const PreparedCase& prepared) {
  const Truth truth = prepared.op->reference(prepared.c, in_double(prepared.inputs, c10::kCPU),
                                             upstream_in_double(prepared, c10::kCPU));
  CaseTruth result{"eigen", {}, {}, {}};
  for (const std::string& name : prepared.op->output_names) {
    result.outputs.push_back(named(truth.outputs, name, "output"));
  }
  for (const Input& input : prepared.inputs.all()) {
    if (!input.wants_grad) continue;
    result.gradients.push_back(named(truth.gradients, input.name, "gradient of"));
    result.gradient_terms.emplace_back();
    for (const auto& [name, terms] : truth.gradient_terms) {
      if (name == input.name) result.gradient_terms.back() = terms;
    }
  }
  return result;
}

CaseTruth eager_fp64_truth(const PreparedCase& prepared, c10::Device device) {
  const Program eager = eager_program(*prepared.op, prepared.c, in_double(prepared.inputs, device));
  CaseTruth result{"eager_fp64", eager.forward(), {}, {}};
  result.gradients = eager.backward(result.outputs, upstream_in_double(prepared, device));
  for (at::Tensor& output : result.outputs) output = output.detach();
  return result;
}

// The largest difference against the larger magnitude or the RMS of b's row.
double disagreement(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0) return 0;
  const at::Tensor row = b.dim() == 0 ? b.abs() : b.square().mean(-1, true).sqrt();
  const at::Tensor scale = at::maximum(at::maximum(a.abs(), b.abs()), row).clamp_min_(1e-300);
  const at::Tensor difference = a.sub(b).abs_().div_(scale);
  return difference.max().item<double>();
}

// The reference's gradient of one input against central differences of its own forward.
std::string check_differences(const PreparedCase& prepared, const CaseTruth& truth) {
  const Inputs inputs = in_double(prepared.inputs, c10::kCPU);
  const std::vector<at::Tensor> upstream = upstream_in_double(prepared, c10::kCPU);
  size_t next = 0;
  for (size_t i = 0; i < inputs.all().size(); ++i) {
    const Input& input = inputs.all()[i];
    if (!input.wants_grad) continue;
    const at::Tensor gradient = truth.gradients[next++];
    if (input.tensor.numel() == 0 || input.tensor.numel() > kDifferenceElements) continue;
    for (size_t o = 0; o < upstream.size(); ++o) {
      // Other outputs' upstream gradients are set to zero, so that one output is looked at.
      std::vector<at::Tensor> only(upstream);
      for (size_t k = 0; k < only.size(); ++k) {
        if (k != o) only[k] = at::zeros_like(only[k]);
      }
      const auto forward = [&](const reference::Matrix& x) {
        Inputs moved = inputs;
        moved.all()[i].tensor = as_tensor(x, input.tensor);
        const Truth at_x = prepared.op->reference(prepared.c, moved, only);
        return as_matrix(named(at_x.outputs, prepared.op->output_names[o], "output"));
      };
      const at::Tensor alone =
          upstream.size() == 1 ? gradient
                               : named(prepared.op->reference(prepared.c, inputs, only).gradients,
                                       input.name, "gradient of");
      const reference::GradientCheck check = reference::check_gradient(
          forward, as_matrix(input.tensor), as_matrix(only[o]), as_matrix(alone));
      if (!(check.discrepancy <= kDifferenceAgreement)) {
        return fmt::format("the reference's gradient of {} is not that of its forward: {}",
                           input.name, check.to_string());
      }
    }
  }
  return "";
}

}  // namespace

PreparedCase prepare(const Operator& op, const Case& c, c10::Device device, uint64_t seed) {
  PreparedCase prepared{&op, c, device, seed, {}, {}};
  Draw draw(c, seed, device);
  prepared.inputs = op.make_inputs(c, draw);
  const std::string layout = c.has("layout") ? c.text("layout") : "contiguous";
  for (Input& input : prepared.inputs.all()) input.tensor = with_layout(input.tensor, layout);
  const std::vector<at::Tensor> outputs = eager_program(op, c, prepared.inputs).forward();
  if (outputs.size() != op.output_names.size()) {
    throw std::logic_error(fmt::format("eager {} gave {} outputs, expected {}", op.name,
                                       outputs.size(), op.output_names.size()));
  }
  for (const at::Tensor& output : outputs) {
    prepared.upstream.push_back(with_layout(draw.upstream(output), layout));
  }
  return prepared;
}

CaseTruth find_truth(const PreparedCase& prepared) {
  const bool cuda = prepared.device.is_cuda();
  const int64_t limit = cuda ? kEigenElementsCuda : kEigenElementsCpu;
  if (input_elements(prepared.inputs) <= limit) return eigen_truth(prepared);
  return eager_fp64_truth(prepared, prepared.device);
}

std::vector<std::string> tensor_names(const PreparedCase& prepared) {
  std::vector<std::string> names = prepared.op->output_names;
  for (const Input& input : prepared.inputs.all()) {
    if (input.wants_grad) names.push_back("d" + input.name);
  }
  return names;
}

std::string check_truth(const PreparedCase& prepared, const CaseTruth& truth) {
  if (truth.kind != "eigen") return "";
  const std::string broken = check_differences(prepared, truth);
  if (!broken.empty()) return broken;
  const CaseTruth eager = eager_fp64_truth(prepared, c10::kCPU);
  const std::vector<std::string> names = tensor_names(prepared);
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_output = i < truth.outputs.size();
    const size_t k = is_output ? i : i - truth.outputs.size();
    const double d = is_output ? disagreement(eager.outputs[k], truth.outputs[k])
                               : disagreement(eager.gradients[k], truth.gradients[k]);
    if (!(d <= kAgreement)) {
      return fmt::format(
          "reference and eager in double disagree on {} by {:.3g}{}", names[i], d,
          is_output ? ""
                    : "; the reference's gradients agree with central differences where tried");
    }
  }
  return "";
}

}  // namespace tigon::harness
