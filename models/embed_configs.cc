// Build tool: embed_configs FILE.json... writes the source of embedded_configs() to standard
// output.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

int main(int argc, char** argv) {
  std::vector<std::pair<std::string, std::string>> configs;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file || text.empty()) {
      std::cerr << "embed_configs: cannot read " << argv[i] << "\n";
      return 1;
    }
    if (text.find(")json\"") != std::string::npos) {
      std::cerr << "embed_configs: " << argv[i] << " holds the end mark of a raw string\n";
      return 1;
    }
    configs.emplace_back(std::filesystem::path(argv[i]).stem().string(), std::move(text));
  }
  std::sort(configs.begin(), configs.end());
  std::cout << "#include \"models/embedded_configs.h\"\n\nnamespace tigon {\nnamespace {\n\n"
               "constexpr EmbeddedConfig kConfigs[] = {\n";
  for (const auto& [name, text] : configs) {
    std::cout << "{\"" << name << "\", R\"json(" << text << ")json\"},\n";
  }
  std::cout << "};\n\n}  // namespace\n\n"
               "std::span<const EmbeddedConfig> embedded_configs() { return kConfigs; }\n\n"
               "}  // namespace tigon\n";
  std::cout.flush();
  return std::cout ? 0 : 1;
}
