// How an operator says which cases it has: sweeps over axes, and what they expand to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/case.h"
#include "harness/sweep/dtype.h"

namespace tigon::harness {

struct Axis {
  std::string name;
  // The points of the axis; of an option, all the values it knows.
  std::vector<std::string> values;
  // Set for an option: the value that a case has when its sweep does not name this axis.
  std::optional<std::string> default_value = {};
  std::string help = {};
};

Axis integer_axis(std::string name, const std::vector<int64_t>& values, std::string help = "");
Axis option_axis(std::string name, std::vector<std::string> values, std::string default_value,
                 std::string help = "");

// A point from names and whole numbers: integer_point({{"rows", 8192}, {"hidden", 4096}}).
std::vector<AxisValue> integer_point(const std::vector<std::pair<std::string, int64_t>>& values);

// Each preset includes the ones before it.
enum class Preset { kSmoke, kDefault, kFull };
std::string_view to_string(Preset preset);   // "smoke", "default", "full"
Preset parse_preset(std::string_view text);  // throws std::invalid_argument

enum class DeviceKind { kCpu, kCuda };
std::string_view to_string(DeviceKind kind);          // "cpu", "cuda"
DeviceKind parse_device_kind(std::string_view text);  // throws std::invalid_argument

// A set of cases. Every explicit point is crossed with every combination of `axes`, and that with
// dtypes and profiles; with no points, the combinations of `axes` stand alone.
struct Sweep {
  std::string name;
  std::vector<Preset> presets;      // taken by these presets and all larger ones
  std::vector<DeviceKind> devices;  // and on these devices
  bool timed = true;                // false: verified only (hostile shapes, odd profiles)
  std::vector<std::vector<AxisValue>> points;
  std::vector<Axis> axes;
  std::vector<DType> dtypes;
  std::vector<std::string> profiles;
  std::function<bool(const Case&)> keep;  // empty: keep all
};

struct PlannedCase {
  Case c;
  bool timed = true;
};

// The cases of an operator that `preset` takes on a device, in the order of the sweeps, each id
// once (timed when any of its sweeps is timed).
//
// Every axis in a sweep is either a size or one of `options`. All sweeps of an operator have the
// same sizes, ordered in every id as in the first sweep; an option that a sweep does not name takes
// its default. Throws std::invalid_argument, naming operator and sweep, when a sweep breaks this,
// names an axis twice, gives an option a value that it does not know, or has no dtype or profile.
std::vector<PlannedCase> expand(std::string_view op, const std::vector<Axis>& options,
                                const std::vector<Sweep>& sweeps, Preset preset, DeviceKind device);

}  // namespace tigon::harness
