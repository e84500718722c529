#include "models/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/embedded_configs.h"

namespace tigon {
namespace {

using Widths = std::vector<int64_t>;

std::string error_of(const std::string& json) {
  try {
    parse_model_config("new", json);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

// A small config whose keys can be replaced: with "key": value, or with nothing to take it away.
std::string config_with(const std::string& key, const std::string& value) {
  std::string json = "{";
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"model_type", "\"llama\""}, {"hidden_size", "64"},        {"intermediate_size", "256"},
      {"vocab_size", "1000"},      {"num_attention_heads", "4"}, {"num_hidden_layers", "2"},
      {"hidden_act", "\"silu\""}};
  bool replaced = false;
  for (const auto& [k, v] : keys) {
    replaced = replaced || k == key;
    if (k == key && value.empty()) continue;
    json += "\"" + k + "\": " + (k == key ? value : v) + ", ";
  }
  if (!replaced) json += "\"" + key + "\": " + value + ", ";
  return json.substr(0, json.size() - 2) + "}";
}

TEST(Models, EveryConfigIsThereAndParses) {
  // One more line here with each file: a glob that finds nothing must not pass.
  const std::vector<std::string> names = {"deepseek_v3",
                                          "gemma_2_9b",
                                          "gemma_3_1b",
                                          "gemma_3_4b",
                                          "gemma_7b",
                                          "glm_4_9b",
                                          "gpt_oss_20b",
                                          "granite_3_0_8b",
                                          "llama_2_7b",
                                          "llama_3_1_70b",
                                          "llama_3_2_11b_vision",
                                          "llama_3_2_1b",
                                          "llama_3_8b",
                                          "llama_4_scout",
                                          "mistral_7b_v0_3",
                                          "mixtral_8x7b",
                                          "olmo_2_7b",
                                          "phi_3_5_mini",
                                          "phi_3_mini_4k",
                                          "phi_4",
                                          "qwen2_5_0_5b",
                                          "qwen2_5_14b",
                                          "qwen2_5_7b",
                                          "qwen2_7b",
                                          "qwen2_vl_7b",
                                          "qwen3_30b_a3b",
                                          "qwen3_8b",
                                          "smollm2_135m"};
  std::vector<std::string> got;
  for (const Model& m : models()) got.push_back(m.name);
  EXPECT_EQ(got, names);
  EXPECT_EQ(embedded_configs().size(), names.size());
}

TEST(Models, NothingIsSilentlyZero) {
  for (const Model& m : models()) {
    SCOPED_TRACE(m.name);
    EXPECT_FALSE(m.type.empty());
    EXPECT_FALSE(m.activation.empty());
    EXPECT_GT(m.hidden, 500);
    EXPECT_GT(m.intermediate, 700);
    EXPECT_GT(m.vocab, 30000);
    EXPECT_GT(m.heads, 0);
    EXPECT_GT(m.kv_heads, 0);
    EXPECT_EQ(m.heads % m.kv_heads, 0);
    EXPECT_GE(m.head_dim, 64);
    EXPECT_GE(m.rotary_dim, 32);
    EXPECT_LE(m.rotary_dim, m.head_dim);
    EXPECT_GT(m.layers, 10);
    EXPECT_FALSE(m.mlp_widths().empty());
    // All of these models have RMSNorm and RoPE.
    ASSERT_TRUE(m.rms_norm_eps);
    EXPECT_GE(*m.rms_norm_eps, 1e-6);
    EXPECT_LE(*m.rms_norm_eps, 1e-5);
    ASSERT_TRUE(m.rope_theta);
    EXPECT_GE(*m.rope_theta, 1e4);
    ASSERT_TRUE(m.max_positions);
    EXPECT_GE(*m.max_positions, 4096);
    EXPECT_TRUE(m.tied_embeddings);
    if (m.experts) {
      EXPECT_GT(m.experts->count, 1);
      EXPECT_GT(m.experts->per_token, 0);
      EXPECT_GT(m.experts->intermediate, 0);
    }
  }
}

TEST(Models, Llama3) {
  const Model& m = model("llama_3_8b");
  EXPECT_EQ(m.hidden, 4096);
  EXPECT_EQ(m.intermediate, 14336);
  EXPECT_EQ(m.vocab, 128256);
  EXPECT_EQ(m.heads, 32);
  EXPECT_EQ(m.kv_heads, 8);
  EXPECT_EQ(m.head_dim, 128);  // not in the file: hidden / heads
  EXPECT_EQ(m.rotary_dim, 128);
  EXPECT_EQ(m.layers, 32);
  EXPECT_EQ(m.rms_norm_eps, 1e-5);
  EXPECT_EQ(m.activation, "silu");
  EXPECT_TRUE(m.uses_swiglu);
  EXPECT_EQ(m.tied_embeddings, false);
  EXPECT_FALSE(m.experts);
  EXPECT_FALSE(m.final_logit_softcap);
  EXPECT_EQ(m.mlp_widths(), Widths{14336});
  EXPECT_EQ(m.rms_norm_casting, "llama");
  EXPECT_EQ(m.rms_norm_offset, 0);
}

TEST(Models, NestedTextTowers) {
  EXPECT_EQ(model("gemma_3_4b").hidden, 2560);  // the vision tower has 1152
  EXPECT_EQ(model("gemma_3_4b").type, "gemma3_text");
  EXPECT_EQ(model("gemma_3_4b").vocab, 262208);
  EXPECT_EQ(model("llama_4_scout").hidden, 5120);
  EXPECT_EQ(model("llama_3_2_11b_vision").hidden, 4096);
  EXPECT_EQ(model("llama_3_2_11b_vision").head_dim, 128);
  EXPECT_EQ(model("qwen2_vl_7b").hidden, 3584);  // the text tower is not nested here
}

TEST(Models, GemmaNormsAndActivation) {
  for (const char* name : {"gemma_7b", "gemma_2_9b", "gemma_3_1b", "gemma_3_4b"}) {
    EXPECT_EQ(model(name).rms_norm_casting, "gemma") << name;
    EXPECT_EQ(model(name).rms_norm_offset, 1) << name;
    EXPECT_EQ(model(name).activation, "gelu_pytorch_tanh") << name;
    EXPECT_FALSE(model(name).uses_swiglu) << name;
  }
  EXPECT_EQ(model("gemma_2_9b").final_logit_softcap, 30.0);
  EXPECT_EQ(model("gemma_7b").head_dim, 256);  // hidden / heads would be 192
}

TEST(Models, MixturesOfExperts) {
  const Model& deepseek = model("deepseek_v3");
  EXPECT_EQ(deepseek.dense_layers, 3);
  EXPECT_EQ(deepseek.mlp_widths(), (Widths{2048, 18432}));
  EXPECT_EQ(deepseek.experts.value().count, 256);
  EXPECT_EQ(deepseek.experts->per_token, 8);
  EXPECT_EQ(deepseek.experts->shared_intermediate, 2048);
  EXPECT_EQ(deepseek.head_dim, 192);
  EXPECT_EQ(deepseek.rotary_dim, 64);
  EXPECT_EQ(deepseek.query_lora_rank, 1536);
  EXPECT_EQ(deepseek.kv_lora_rank, 512);

  const Model& scout = model("llama_4_scout");
  EXPECT_EQ(scout.dense_layers, 0);
  EXPECT_EQ(scout.intermediate, 16384);
  EXPECT_EQ(scout.mlp_widths(), Widths{8192});
  EXPECT_EQ(scout.experts.value().shared_intermediate, 8192);

  EXPECT_EQ(model("mixtral_8x7b").dense_layers, 0);
  EXPECT_EQ(model("mixtral_8x7b").mlp_widths(), Widths{14336});
  EXPECT_EQ(model("qwen3_30b_a3b").mlp_widths(), Widths{768});
  EXPECT_EQ(model("gpt_oss_20b").mlp_widths(), Widths{2880});
  EXPECT_FALSE(model("gpt_oss_20b").uses_swiglu);  // clamped, with another slope
}

TEST(Models, PartialRotary) {
  EXPECT_EQ(model("glm_4_9b").head_dim, 128);
  EXPECT_EQ(model("glm_4_9b").rotary_dim, 64);
}

// The published sizes of the models check every figure that enters them.
TEST(Models, ParameterCounts) {
  const auto billions = [](const char* name) {
    const Model& m = model(name);
    const int64_t embedding = m.vocab * m.hidden * (m.tied_embeddings.value() ? 1 : 2);
    const int64_t attention = 2 * m.hidden * m.head_dim * (m.heads + m.kv_heads);
    const int64_t dense = 3 * m.hidden * m.intermediate;
    int64_t mlps = m.dense_layers * dense;
    if (m.experts) {
      const int64_t width = m.experts->count * m.experts->intermediate;
      mlps += (m.layers - m.dense_layers) * (3 * m.hidden * width + m.hidden * m.experts->count);
    }
    const double total = static_cast<double>(embedding + m.layers * attention + mlps);
    return total / 1e9;
  };
  EXPECT_NEAR(billions("llama_2_7b"), 6.738, 2e-3);
  EXPECT_NEAR(billions("llama_3_8b"), 8.030, 2e-3);
  EXPECT_NEAR(billions("llama_3_1_70b"), 70.554, 2e-3);
  EXPECT_NEAR(billions("llama_3_2_1b"), 1.236, 2e-3);
  EXPECT_NEAR(billions("mixtral_8x7b"), 46.703, 2e-3);
  EXPECT_NEAR(billions("gemma_2_9b"), 9.242, 2e-3);
  EXPECT_NEAR(billions("qwen3_30b_a3b"), 30.532, 2e-3);
}

TEST(Models, UnknownNameListsTheKnownOnes) {
  try {
    model("llama_9");
    FAIL();
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("no model \"llama_9\"; there are: deepseek_v3, gemma_2_9b, "), 0u) << text;
    EXPECT_NE(text.find("smollm2_135m"), std::string::npos) << text;
  }
}

TEST(ParseModelConfig, LeavesAbsentWhatTheConfigLacks) {
  const Model m = parse_model_config("new", config_with("rms_norm_eps", "null"));
  EXPECT_EQ(m.name, "new");
  EXPECT_EQ(m.kv_heads, 4);
  EXPECT_EQ(m.head_dim, 16);
  EXPECT_EQ(m.dense_layers, 2);
  EXPECT_FALSE(m.rms_norm_eps);
  EXPECT_FALSE(m.rope_theta);
  EXPECT_FALSE(m.max_positions);
  EXPECT_FALSE(m.tied_embeddings);
  EXPECT_FALSE(m.experts);
}

TEST(ParseModelConfig, TiedEmbeddingsMayStandOutsideTheTextTower) {
  const std::string text = config_with("head_dim", "32");
  const std::string json = R"({"tie_word_embeddings": true, "text_config": )" + text + "}";
  EXPECT_EQ(parse_model_config("new", json).tied_embeddings, true);
}

TEST(ParseModelConfig, ErrorsNameTheKey) {
  const std::string start = "model config \"new\": ";
  for (const char* key : {"model_type", "hidden_size", "intermediate_size", "vocab_size",
                          "num_attention_heads", "num_hidden_layers"}) {
    EXPECT_EQ(error_of(config_with(key, "")), start + "key \"" + key + "\" is missing");
  }
  EXPECT_EQ(error_of(config_with("hidden_act", "")),
            start + "key \"hidden_activation\" or \"hidden_act\" is missing");
  EXPECT_EQ(error_of(config_with("hidden_size", "\"64\"")),
            start + "key \"hidden_size\" is \"64\", wants a positive integer");
  for (const char* bad : {"0", "-1", "64.5", "true", "[64]", "18446744073709551615"}) {
    EXPECT_EQ(error_of(config_with("vocab_size", bad)),
              start + "key \"vocab_size\" is " + bad + ", wants a positive integer");
  }
  EXPECT_EQ(error_of(config_with("rms_norm_eps", "\"1e-6\"")),
            start + "key \"rms_norm_eps\" is \"1e-6\", wants a positive number");
  EXPECT_EQ(error_of(config_with("num_attention_heads", "5")),
            start +
                "key \"head_dim\" is missing, and \"hidden_size\" 64 is not a multiple of "
                "\"num_attention_heads\" 5");
  EXPECT_EQ(error_of(config_with("num_local_experts", "8")),
            start + "key \"num_experts_per_tok\" or \"experts_per_token\" is missing");
  EXPECT_EQ(error_of(config_with("text_config", "3")),
            start + "key \"text_config\" is 3, wants an object");
  EXPECT_EQ(error_of("[]"), start + "the config is not a JSON object");
  EXPECT_EQ(error_of("{").find(start + "not JSON: "), 0u);
}

}  // namespace
}  // namespace tigon
