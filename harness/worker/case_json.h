// A case as it crosses the pipe to a worker.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/sweep/case.h"

namespace tigon::harness {

nlohmann::json case_to_json(const Case& c);
// Throws std::invalid_argument or nlohmann::json::exception when it is no case.
Case case_from_json(const nlohmann::json& json);

}  // namespace tigon::harness
