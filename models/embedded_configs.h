// The files of configs/, put into the binary by embed_configs: nothing is looked up at run time.
#pragma once

#include <span>
#include <string_view>

namespace tigon {

struct EmbeddedConfig {
  std::string_view name;  // the file's name without ".json"
  std::string_view json;
};

// By name.
std::span<const EmbeddedConfig> embedded_configs();

}  // namespace tigon
