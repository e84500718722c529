#include "models/models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>

#include "models/config_reader.h"
#include "models/embedded_configs.h"

namespace tigon {
namespace {

// Every how many layers (key) a layer has experts; 1 where the key is missing.
int64_t expert_period(const ConfigReader& config, const char* key) {
  return config.optional_size({key}).value_or(1);
}

// Layers whose MLP is dense although the model has experts.
int64_t count_dense_layers(const ConfigReader& config, int64_t layers) {
  const int64_t first_dense = config.optional_count({"first_k_dense_replace"}).value_or(0);
  const int64_t deepseek = expert_period(config, "moe_layer_freq");
  const int64_t qwen = expert_period(config, "decoder_sparse_step");
  const int64_t llama = expert_period(config, "interleave_moe_layer_step");
  int64_t dense = config.optional_list_length({"mlp_only_layers"}).value_or(0);
  for (int64_t i = 0; i < layers; ++i) {
    const bool has_experts =
        i >= first_dense && i % deepseek == 0 && (i + 1) % qwen == 0 && (i + 1) % llama == 0;
    if (!has_experts) ++dense;
  }
  return std::min(dense, layers);
}

std::optional<Experts> read_experts(const ConfigReader& config, const std::string& type) {
  const std::optional<int64_t> count =
      config.optional_count({"num_local_experts", "num_experts", "n_routed_experts"});
  if (!count || *count == 0) return std::nullopt;
  Experts experts{};
  experts.count = *count;
  experts.per_token = config.size({"num_experts_per_tok", "experts_per_token"});
  if (experts.per_token > experts.count) {
    config.fail("key \"num_experts_per_tok\" is " + std::to_string(experts.per_token) +
                ", wants at most the number of experts, " + std::to_string(experts.count));
  }
  experts.intermediate = config.size({"moe_intermediate_size", "intermediate_size"});
  const int64_t shared = config.optional_count({"n_shared_experts"}).value_or(0);
  if (shared > 0) {
    experts.shared_intermediate = shared * experts.intermediate;
  } else if (type.starts_with("llama4")) {
    // One shared expert beside the routed ones, which no key says.
    experts.shared_intermediate = experts.intermediate;
  } else {
    const int64_t width = config.optional_count({"shared_expert_intermediate_size"}).value_or(0);
    if (width > 0) experts.shared_intermediate = width;
  }
  return experts;
}

void read_head_dims(const ConfigReader& config, Model& m) {
  const std::optional<int64_t> latent_rotary = config.optional_size({"qk_rope_head_dim"});
  if (latent_rotary) {
    // Latent attention: a part of each query and key is rotated, another is not.
    m.head_dim = *latent_rotary + config.size({"qk_nope_head_dim"});
    m.rotary_dim = *latent_rotary;
    return;
  }
  const std::optional<int64_t> head_dim = config.optional_size({"head_dim"});
  if (!head_dim && m.hidden % m.heads != 0) {
    config.fail("key \"head_dim\" is missing, and \"hidden_size\" " + std::to_string(m.hidden) +
                " is not a multiple of \"num_attention_heads\" " + std::to_string(m.heads));
  }
  m.head_dim = head_dim.value_or(m.hidden / m.heads);
  const double part = config.optional_number({"partial_rotary_factor"}).value_or(1.0);
  m.rotary_dim = static_cast<int64_t>(static_cast<double>(m.head_dim) * part);
  if (part > 1 || m.rotary_dim == 0) {
    config.fail("key \"partial_rotary_factor\" is " + std::to_string(part) +
                ", wants a part of head_dim, which is " + std::to_string(m.head_dim));
  }
}

// Which models compute their norms in fp32 to the end, and which of them keep weights around 0.
void set_rms_norm_style(Model& m) {
  constexpr std::array<std::string_view, 5> kOffset = {"gemma", "gemma2", "gemma3", "qwen3_next",
                                                       "qwen3_5"};
  const auto is = [&m](std::string_view family) {
    return m.type == family || m.type == std::string(family) + "_text" ||
           m.type == std::string(family) + "_moe";
  };
  const bool offset = std::any_of(kOffset.begin(), kOffset.end(), is);
  m.rms_norm_casting = offset || is("gemma4") ? "gemma" : "llama";
  m.rms_norm_offset = offset ? 1 : 0;
}

}  // namespace

std::vector<int64_t> Model::mlp_widths() const {
  std::set<int64_t> widths;
  if (dense_layers > 0) widths.insert(intermediate);
  if (experts && dense_layers < layers) {
    widths.insert(experts->intermediate);
    if (experts->shared_intermediate) widths.insert(*experts->shared_intermediate);
  }
  return {widths.begin(), widths.end()};
}

Model parse_model_config(std::string_view name, std::string_view json_text) {
  const ConfigReader config(name, json_text);
  Model m{};
  m.name = name;
  m.type = config.string({"model_type"});
  m.hidden = config.size({"hidden_size"});
  m.vocab = config.size({"vocab_size"});
  m.heads = config.size({"num_attention_heads"});
  m.kv_heads = config.optional_size({"num_key_value_heads"}).value_or(m.heads);
  m.layers = config.size({"num_hidden_layers"});
  read_head_dims(config, m);

  // Llama 4 gives the width of its experts as intermediate_size.
  const std::optional<int64_t> dense = config.optional_size({"intermediate_size_mlp"});
  m.intermediate = dense ? *dense : config.size({"intermediate_size"});
  m.experts = read_experts(config, m.type);
  m.dense_layers = m.experts ? count_dense_layers(config, m.layers) : m.layers;

  // Where Gemma has both, its reference code follows hidden_activation.
  m.activation = config.string({"hidden_activation", "hidden_act"});
  m.uses_swiglu =
      (m.activation == "silu" || m.activation == "swish") && !config.has("swiglu_limit");
  set_rms_norm_style(m);

  m.rms_norm_eps = config.optional_number({"rms_norm_eps"});
  m.rope_theta = config.optional_number({"rope_theta"});
  m.final_logit_softcap = config.optional_number({"final_logit_softcapping"});
  m.max_positions = config.optional_size({"max_position_embeddings"});
  m.query_lora_rank = config.optional_size({"q_lora_rank"});
  m.kv_lora_rank = config.optional_size({"kv_lora_rank"});
  m.tied_embeddings = config.optional_bool_anywhere({"tie_word_embeddings"});
  return m;
}

const std::vector<Model>& models() {
  static const std::vector<Model> all = [] {
    std::vector<Model> parsed;
    for (const EmbeddedConfig& config : embedded_configs()) {
      parsed.push_back(parse_model_config(config.name, config.json));
    }
    return parsed;
  }();
  return all;
}

const Model& model(std::string_view name) {
  std::string known;
  for (const Model& m : models()) {
    if (m.name == name) return m;
    known += (known.empty() ? "" : ", ") + m.name;
  }
  throw std::invalid_argument("no model \"" + std::string(name) + "\"; there are: " + known);
}

}  // namespace tigon
