// RMSNorm as a LibTorch user writes it, from plain operations and differentiated by autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

namespace tigon::eager {

// The composition of Hugging Face's LlamaRMSNorm (casting "llama"), GemmaRMSNorm ("gemma"), or all
// in x's dtype ("none"). The compute type is fp32, or double where x is double: with inputs in
// double this is a second truth. The result has x's dtype.
at::Tensor rms_norm(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps,
                    double offset, std::string_view casting);

}  // namespace tigon::eager
