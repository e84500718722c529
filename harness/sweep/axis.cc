#include "harness/sweep/axis.h"

#include <stdexcept>
#include <utility>

#include "harness/sweep/suggest.h"

namespace tigon::harness {

Axis integer_axis(std::string name, const std::vector<int64_t>& values, std::string help) {
  Axis axis{std::move(name), {}, std::nullopt, std::move(help)};
  for (int64_t value : values) axis.values.push_back(std::to_string(value));
  return axis;
}

Axis option_axis(std::string name, std::vector<std::string> values, std::string default_value,
                 std::string help) {
  return {std::move(name), std::move(values), std::move(default_value), std::move(help)};
}

std::vector<AxisValue> integer_point(const std::vector<std::pair<std::string, int64_t>>& values) {
  std::vector<AxisValue> point;
  for (const auto& [name, value] : values) point.push_back({name, std::to_string(value)});
  return point;
}

std::string_view to_string(Preset preset) {
  switch (preset) {
    case Preset::kSmoke:
      return "smoke";
    case Preset::kDefault:
      return "default";
    case Preset::kFull:
      return "full";
  }
  return "?";
}

Preset parse_preset(std::string_view text) {
  for (Preset preset : {Preset::kSmoke, Preset::kDefault, Preset::kFull}) {
    if (to_string(preset) == text) return preset;
  }
  throw std::invalid_argument(unknown_name("preset", text, {"smoke", "default", "full"}));
}

std::string_view to_string(DeviceKind kind) { return kind == DeviceKind::kCpu ? "cpu" : "cuda"; }

DeviceKind parse_device_kind(std::string_view text) {
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    if (to_string(kind) == text) return kind;
  }
  throw std::invalid_argument(unknown_name("device kind", text, {"cpu", "cuda"}));
}

}  // namespace tigon::harness
