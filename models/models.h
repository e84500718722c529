// The model families whose shapes the suites run: facts of their config.json files, which are in
// configs/ and, from there, in the binary. SOURCES.md says where each came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tigon {

// The routed part of a mixture-of-experts model.
struct Experts {
  int64_t count;         // routed experts a layer
  int64_t per_token;     // experts that each token goes to
  int64_t intermediate;  // width of one routed expert
  // Width of the shared experts together; absent: the model has none.
  std::optional<int64_t> shared_intermediate;
};

// Sizes are elements, counts of heads or of layers; each is positive. Of a model with several
// towers, the text tower.
struct Model {
  std::string name;  // e.g. "llama_3_8b"
  std::string type;  // the config's model_type, e.g. "llama"
  int64_t hidden;
  // Width of a dense MLP. Where experts take the place of every MLP (dense_layers is 0), what the
  // config gives as intermediate_size all the same.
  int64_t intermediate;
  int64_t vocab;
  int64_t heads, kv_heads;
  // Of queries and keys. heads * head_dim need not be hidden.
  int64_t head_dim;
  int64_t rotary_dim;      // the part of head_dim that RoPE rotates
  int64_t layers;          // all of them
  int64_t dense_layers;    // those whose MLP is dense
  std::string activation;  // of the MLP's gate, e.g. "silu", "gelu_pytorch_tanh"
  // An MLP is silu(gate) * up and nothing else: no other activation, no clamp.
  bool uses_swiglu;
  // How the norms are computed: casting as tigon::rms_norm takes it, and what is added to weights.
  std::string rms_norm_casting;
  double rms_norm_offset;

  // Absent: the config does not say, or the model lacks it.
  std::optional<double> rms_norm_eps;
  std::optional<double> rope_theta;
  std::optional<double> final_logit_softcap;
  std::optional<int64_t> max_positions;
  std::optional<int64_t> query_lora_rank, kv_lora_rank;  // widths of DeepSeek's latent norms
  std::optional<bool> tied_embeddings;                   // the output layer is the embedding
  std::optional<Experts> experts;

  // The different widths of the MLPs that occur, ascending: dense, routed, shared.
  std::vector<int64_t> mlp_widths() const;
};

// All models of configs/, by name.
const std::vector<Model>& models();

// Throws std::invalid_argument that lists the known names.
const Model& model(std::string_view name);

// Reads a config.json in Hugging Face's form. A nested text_config (or llm_config, language_config)
// is the text tower. A head_dim that is missing is hidden / heads, missing key-value heads are the
// heads. Throws std::invalid_argument that names the model and the key: missing, of a wrong type,
// or of a value that cannot be.
Model parse_model_config(std::string_view name, std::string_view json_text);

}  // namespace tigon
