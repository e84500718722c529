#include "harness/worker/case_json.h"

namespace tigon::harness {

nlohmann::json case_to_json(const Case& c) {
  nlohmann::json axes = nlohmann::json::array();
  for (const AxisValue& axis : c.axes) axes.push_back({axis.name, axis.value, axis.in_id});
  return {{"op", c.op}, {"axes", axes}, {"dtype", to_string(c.dtype)}, {"profile", c.profile}};
}

Case case_from_json(const nlohmann::json& json) {
  Case c;
  c.op = json.at("op");
  for (const nlohmann::json& axis : json.at("axes")) {
    c.axes.push_back({axis.at(0), axis.at(1), axis.at(2)});
  }
  c.dtype = parse_dtype(json.at("dtype").get<std::string>());
  c.profile = json.at("profile");
  return c;
}

}  // namespace tigon::harness
