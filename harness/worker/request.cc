#include "harness/worker/request.h"

#include "harness/worker/case_json.h"

namespace tigon::harness {

nlohmann::json to_json(const CaseRequest& request) {
  return {{"case", case_to_json(request.c)},
          {"timed", request.timed},
          {"seed", request.seed},
          {"time_budget_s", request.time_budget_s},
          {"repetitions", request.repetitions},
          {"reproduce", request.reproduce},
          {"started_at", request.started_at},
          {"binary_digest", request.binary_digest},
          {"git_commit", request.git_commit}};
}

nlohmann::json to_json(const MutantRequest& request) {
  nlohmann::json cases = nlohmann::json::array();
  for (const Case& c : request.cases) cases.push_back(case_to_json(c));
  return {{"mutant", request.mutant}, {"op", request.op}, {"cases", cases}, {"seed", request.seed}};
}

bool is_mutant_request(const nlohmann::json& json) { return json.contains("mutant"); }

CaseRequest case_request_from_json(const nlohmann::json& json) {
  CaseRequest request;
  request.c = case_from_json(json.at("case"));
  request.timed = json.at("timed");
  request.seed = json.at("seed");
  request.time_budget_s = json.at("time_budget_s");
  request.repetitions = json.at("repetitions");
  request.reproduce = json.at("reproduce");
  request.started_at = json.at("started_at");
  request.binary_digest = json.at("binary_digest");
  request.git_commit = json.at("git_commit");
  return request;
}

MutantRequest mutant_request_from_json(const nlohmann::json& json) {
  MutantRequest request;
  request.op = json.at("op");
  request.mutant = json.at("mutant");
  for (const nlohmann::json& c : json.at("cases")) request.cases.push_back(case_from_json(c));
  request.seed = json.at("seed");
  return request;
}

}  // namespace tigon::harness
