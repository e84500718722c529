#include "harness/worker/case_row.h"

namespace tigon::harness {

SpeedRecord case_row(const CaseRequest& request, const std::string& device) {
  SpeedRecord record;
  record.case_id = request.c.id();
  record.op = request.c.op;
  record.device = device;
  record.implementation = implementation::kFused;
  record.pass = request.timed ? pass::kStep : pass::kVerify;
  record.seed = request.seed;
  record.reproduce = request.reproduce;
  record.started_at = request.started_at;
  record.binary_digest = request.binary_digest;
  record.git_commit = request.git_commit;
  return record;
}

}  // namespace tigon::harness
