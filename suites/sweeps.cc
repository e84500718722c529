#include "suites/sweeps.h"

#include <utility>

#include "harness/verify/draw.h"
#include "harness/verify/layout.h"

namespace tigon::suites {

using harness::Axis;
using harness::DeviceKind;
using harness::DType;
using harness::integer_axis;
using harness::Preset;
using harness::Sweep;

int64_t tokens(DeviceKind device) { return device == DeviceKind::kCpu ? 128 : 8192; }

const std::vector<DType> kAllTypes = {DType::kFloat32, DType::kBFloat16, DType::kFloat16};
const std::vector<DType> kTrainingTypes = {DType::kBFloat16, DType::kFloat32};
const std::vector<DeviceKind> kEveryDevice = {DeviceKind::kCpu, DeviceKind::kCuda};

Sweep timed(std::string name, Preset preset, DeviceKind device, std::vector<Point> points,
            std::vector<DType> dtypes) {
  Sweep sweep;
  sweep.name = std::move(name);
  sweep.presets = {preset};
  sweep.devices = {device};
  sweep.timed = true;
  sweep.points = std::move(points);
  sweep.dtypes = std::move(dtypes);
  sweep.profiles = {"normal"};
  return sweep;
}

Sweep verified(std::string name, Preset preset, std::vector<Axis> axes,
               std::vector<std::string> profiles, std::vector<DType> dtypes) {
  Sweep sweep;
  sweep.name = std::move(name);
  sweep.presets = {preset};
  sweep.devices = kEveryDevice;
  sweep.timed = false;
  sweep.axes = std::move(axes);
  sweep.dtypes = std::move(dtypes);
  sweep.profiles = std::move(profiles);
  return sweep;
}

std::vector<Sweep> hostile_rows(const std::string& width) {
  const auto sizes = [&width](std::vector<int64_t> rows, std::vector<int64_t> widths) {
    return std::vector<Axis>{integer_axis("rows", rows), integer_axis(width, widths)};
  };
  std::vector<Axis> layouts = sizes({6}, {37, 64});
  layouts.push_back({"layout", harness::layout_axis().values, {}, ""});
  const std::vector<int64_t> seams = {1,   2,   3,   7,   8,   9,   31,   32,   33,   63,   64,  65,
                                      127, 128, 129, 255, 257, 511, 1009, 1023, 1025, 4095, 4097};
  return {
      verified("tiny", Preset::kSmoke, sizes({2}, {5}), {"normal", "integer"}, kAllTypes),
      verified("profiles", Preset::kSmoke, sizes({5}, {136}), harness::Draw::profiles(), kAllTypes),
      verified("layouts", Preset::kSmoke, layouts, {"normal"}, kAllTypes),
      verified("widths", Preset::kDefault, sizes({3}, seams), {"normal"}, kAllTypes),
      verified("huge", Preset::kDefault, sizes({2}, {65537, 131072}), {"normal"}, kTrainingTypes),
      verified("rows", Preset::kDefault, sizes({0, 1, 2, 33, 257, 4099}, {72}),
               {"normal", "integer"}, kAllTypes),
  };
}

}  // namespace tigon::suites
