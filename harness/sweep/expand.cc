#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "harness/sweep/axis.h"
#include "harness/sweep/suggest.h"

namespace tigon::harness {
namespace {

using Point = std::vector<AxisValue>;

const AxisValue* find(const Point& point, std::string_view name) {
  const auto found = std::find_if(point.begin(), point.end(),
                                  [&](const AxisValue& value) { return value.name == name; });
  return found == point.end() ? nullptr : &*found;
}

// Every explicit point of the sweep with every combination of its axes, the last axis fastest.
std::vector<Point> combinations(const Sweep& sweep) {
  std::vector<Point> result = sweep.points.empty() ? std::vector<Point>{{}} : sweep.points;
  for (const Axis& axis : sweep.axes) {
    std::vector<Point> wider;
    for (const Point& point : result) {
      for (const std::string& value : axis.values) {
        wider.push_back(point);
        wider.back().push_back({axis.name, value});
      }
    }
    result = std::move(wider);
  }
  return result;
}

class Expander {
 public:
  Expander(std::string_view op, const std::vector<Axis>& options) : op_(op), options_(options) {
    for (const Axis& option : options) {
      if (!option.default_value) fail("option \"{}\" has no default value", option.name);
      require_known(option, *option.default_value);
    }
  }

  // The combinations of a sweep with sizes and options in the operator's order. All sweeps pass
  // through here, also those the preset leaves out: a mistake shows, and sizes keep their order,
  // whatever the preset.
  std::vector<Point> points(const Sweep& sweep) {
    sweep_ = &sweep;
    if (sweep.dtypes.empty()) fail("no dtypes");
    if (sweep.profiles.empty()) fail("no profiles");
    if (sweep.presets.empty()) fail("no presets");
    if (sweep.devices.empty()) fail("no devices");
    for (const Axis& axis : sweep.axes) {
      if (axis.values.empty()) fail("axis \"{}\" has no values", axis.name);
    }
    std::vector<Point> result = combinations(sweep);
    for (Point& point : result) point = ordered(point);
    return result;
  }

 private:
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw std::invalid_argument(
        fmt::format("operator \"{}\"{}: {}", op_,
                    sweep_ ? fmt::format(", sweep \"{}\"", sweep_->name) : std::string(),
                    fmt::format(format, std::forward<Args>(args)...)));
  }

  const Axis* option(std::string_view name) const {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const Axis& axis) { return axis.name == name; });
    return found == options_.end() ? nullptr : &*found;
  }

  void require_known(const Axis& option, const std::string& value) const {
    if (std::find(option.values.begin(), option.values.end(), value) != option.values.end()) return;
    fail("{}",
         unknown_name(fmt::format("value of option \"{}\"", option.name), value, option.values));
  }

  Point ordered(const Point& point) {
    std::vector<std::string> sizes;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const AxisValue& value = point[i];
      if (find(point, value.name) != &value) fail("axis \"{}\" stands twice", value.name);
      if (option(value.name) == nullptr) sizes.push_back(value.name);
    }
    if (!sizes_) sizes_ = sizes;
    std::vector<std::string> got = sizes, want = *sizes_;
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    if (got != want) {
      fail(
          "its sizes are [{}], want those of the first sweep, [{}]; an axis that only some sweeps "
          "have must be an option with a default",
          fmt::join(sizes, ", "), fmt::join(*sizes_, ", "));
    }

    Point result;
    for (const std::string& name : *sizes_) result.push_back({name, find(point, name)->value});
    for (const Axis& option : options_) {
      const AxisValue* given = find(point, option.name);
      const std::string& value = given ? given->value : *option.default_value;
      require_known(option, value);
      result.push_back({option.name, value, value != *option.default_value});
    }
    return result;
  }

  std::string_view op_;
  const std::vector<Axis>& options_;
  const Sweep* sweep_ = nullptr;
  std::optional<std::vector<std::string>> sizes_;  // of the first sweep
};

bool taken(const Sweep& sweep, Preset preset, DeviceKind device) {
  return std::any_of(sweep.presets.begin(), sweep.presets.end(),
                     [&](Preset own) { return own <= preset; }) &&
         std::find(sweep.devices.begin(), sweep.devices.end(), device) != sweep.devices.end();
}

}  // namespace

std::vector<PlannedCase> expand(std::string_view op, const std::vector<Axis>& options,
                                const std::vector<Sweep>& sweeps, Preset preset,
                                DeviceKind device) {
  Expander expander(op, options);
  std::vector<PlannedCase> result;
  std::unordered_map<std::string, std::size_t> seen;
  for (const Sweep& sweep : sweeps) {
    const std::vector<Point> points = expander.points(sweep);
    if (!taken(sweep, preset, device)) continue;
    for (const Point& point : points) {
      for (DType dtype : sweep.dtypes) {
        for (const std::string& profile : sweep.profiles) {
          Case c{std::string(op), point, dtype, profile};
          check_id_parts(c);
          if (sweep.keep && !sweep.keep(c)) continue;
          const auto [place, is_new] = seen.try_emplace(c.id(), result.size());
          if (is_new) {
            result.push_back({std::move(c), sweep.timed});
          } else if (sweep.timed) {
            result[place->second].timed = true;
          }
        }
      }
    }
  }
  return result;
}

}  // namespace tigon::harness
