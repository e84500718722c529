#include "models/config_reader.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace tigon {

using nlohmann::json;

ConfigReader::ConfigReader(std::string_view model, std::string_view json_text)
    : model_(model), text_(&root_) {
  try {
    root_ = json::parse(json_text);
  } catch (const json::parse_error& error) {
    fail(std::string("not JSON: ") + error.what());
  }
  if (!root_.is_object()) fail("the config is not a JSON object");
  const Entry nested = find({"text_config", "llm_config", "language_config"});
  if (nested.value == nullptr) return;
  if (!nested.value->is_object()) fail_value(nested, "an object");
  text_ = nested.value;
}

void ConfigReader::fail(const std::string& message) const {
  throw std::invalid_argument("model config \"" + model_ + "\": " + message);
}

void ConfigReader::fail_missing(Names names) const {
  std::string keys;
  for (const char* name : names) {
    keys += (keys.empty() ? "\"" : " or \"") + std::string(name) + "\"";
  }
  fail("key " + keys + " is missing");
}

void ConfigReader::fail_value(const Entry& entry, const char* wants) const {
  fail("key \"" + std::string(entry.key) + "\" is " + entry.value->dump() + ", wants " + wants);
}

ConfigReader::Entry ConfigReader::find_in(const json& object, Names names) {
  for (const char* name : names) {
    const auto it = object.find(name);
    if (it != object.end() && !it->is_null()) return {name, &*it};
  }
  return {};
}

std::optional<int64_t> ConfigReader::integer(Names names, int64_t least, const char* wants) const {
  const Entry entry = find(names);
  if (entry.value == nullptr) return std::nullopt;
  // Unsigned numbers past the signed range would wrap around.
  const bool fits = entry.value->is_number_integer() &&
                    (!entry.value->is_number_unsigned() ||
                     entry.value->get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
  if (!fits || entry.value->get<int64_t>() < least) fail_value(entry, wants);
  return entry.value->get<int64_t>();
}

int64_t ConfigReader::size(Names names) const {
  const std::optional<int64_t> value = optional_size(names);
  if (!value) fail_missing(names);
  return *value;
}

std::optional<int64_t> ConfigReader::optional_size(Names names) const {
  return integer(names, 1, "a positive integer");
}

std::optional<int64_t> ConfigReader::optional_count(Names names) const {
  return integer(names, 0, "an integer of 0 or more");
}

std::optional<double> ConfigReader::optional_number(Names names) const {
  const Entry entry = find(names);
  if (entry.value == nullptr) return std::nullopt;
  const double value = entry.value->is_number() ? entry.value->get<double>() : 0;
  if (!(value > 0) || !std::isfinite(value)) fail_value(entry, "a positive number");
  return value;
}

std::optional<std::string> ConfigReader::optional_string(Names names) const {
  const Entry entry = find(names);
  if (entry.value == nullptr) return std::nullopt;
  if (!entry.value->is_string() || entry.value->get<std::string>().empty()) {
    fail_value(entry, "a name");
  }
  return entry.value->get<std::string>();
}

std::string ConfigReader::string(Names names) const {
  const std::optional<std::string> value = optional_string(names);
  if (!value) fail_missing(names);
  return *value;
}

std::optional<bool> ConfigReader::optional_bool(Names names) const {
  const Entry entry = find(names);
  if (entry.value == nullptr) return std::nullopt;
  if (!entry.value->is_boolean()) fail_value(entry, "true or false");
  return entry.value->get<bool>();
}

std::optional<bool> ConfigReader::optional_bool_anywhere(Names names) const {
  if (const std::optional<bool> value = optional_bool(names)) return value;
  const Entry entry = find_in(root_, names);
  if (entry.value == nullptr) return std::nullopt;
  if (!entry.value->is_boolean()) fail_value(entry, "true or false");
  return entry.value->get<bool>();
}

std::optional<int64_t> ConfigReader::optional_list_length(Names names) const {
  const Entry entry = find(names);
  if (entry.value == nullptr) return std::nullopt;
  if (!entry.value->is_array()) fail_value(entry, "a list");
  return static_cast<int64_t>(entry.value->size());
}

}  // namespace tigon
