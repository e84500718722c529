// Typed access to the keys of a config.json; null counts as missing. Errors are
// std::invalid_argument and name the model, the key, what was found and what is wanted.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tigon {

class ConfigReader {
 public:
  ConfigReader(std::string_view model, std::string_view json_text);

  // Each takes the names that a key goes by and reads the first that is there.
  using Names = std::initializer_list<const char*>;

  int64_t size(Names names) const;  // positive; an error where missing
  std::optional<int64_t> optional_size(Names names) const;
  std::optional<int64_t> optional_count(Names names) const;  // 0 or more
  std::optional<double> optional_number(Names names) const;  // positive and finite
  std::optional<std::string> optional_string(Names names) const;
  std::string string(Names names) const;
  std::optional<bool> optional_bool(Names names) const;
  std::optional<int64_t> optional_list_length(Names names) const;

  // Whether the text tower has a value for the key.
  bool has(const char* key) const { return find({key}).value != nullptr; }
  // The same names, but looked for in the whole model's part too where the tower lacks them.
  std::optional<bool> optional_bool_anywhere(Names names) const;

  [[noreturn]] void fail(const std::string& message) const;

 private:
  struct Entry {
    const char* key = nullptr;
    const nlohmann::json* value = nullptr;
  };

  static Entry find_in(const nlohmann::json& object, Names names);
  Entry find(Names names) const { return find_in(*text_, names); }
  std::optional<int64_t> integer(Names names, int64_t least, const char* wants) const;
  [[noreturn]] void fail_missing(Names names) const;
  [[noreturn]] void fail_value(const Entry& entry, const char* wants) const;

  std::string model_;
  nlohmann::json root_;
  const nlohmann::json* text_;  // root_ or an object in it
};

}  // namespace tigon
