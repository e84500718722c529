// What the parent asks of a worker.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/sweep/case.h"

namespace tigon::harness {

struct CaseRequest {
  Case c;
  bool timed = false;  // verify alone, or measure memory and time too
  uint64_t seed = 0;
  double time_budget_s = 3;  // for all timing of the case together
  int64_t repetitions = 0;   // rounds; 0: as many as the time needs
  // Repeated in the rows, so that a row says how it came to be.
  std::string reproduce, started_at, binary_digest, git_commit;
};

struct MutantRequest {
  std::string op;      // the operator it is a twin of
  std::string mutant;  // dispatcher operator, "tigon_mutants::rms_norm.no_eps"
  std::vector<Case> cases;
  uint64_t seed = 0;
};

nlohmann::json to_json(const CaseRequest& request);
nlohmann::json to_json(const MutantRequest& request);
bool is_mutant_request(const nlohmann::json& json);
// Throw std::invalid_argument or nlohmann::json::exception when the text is no such request.
CaseRequest case_request_from_json(const nlohmann::json& json);
MutantRequest mutant_request_from_json(const nlohmann::json& json);

}  // namespace tigon::harness
