#include "harness/worker/request.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "harness/worker/case_json.h"

namespace tigon::harness {
namespace {

using nlohmann::json;

Case some_case() {
  return {"rms_norm",
          {{"rows", "8192"}, {"hidden", "4096"}, {"casting", "llama", false}, {"offset", "1"}},
          DType::kBFloat16,
          "outlier"};
}

// As it arrives: through text.
json sent(const json& message) { return json::parse(message.dump()); }

TEST(CaseJsonTest, ComesBackAsItWas) {
  const Case c = some_case();
  const Case back = case_from_json(sent(case_to_json(c)));
  EXPECT_EQ(back.op, c.op);
  EXPECT_EQ(back.axes, c.axes);
  EXPECT_EQ(back.dtype, c.dtype);
  EXPECT_EQ(back.profile, c.profile);
  EXPECT_EQ(back.id(), "rms_norm/rows=8192/hidden=4096/offset=1/bf16/outlier");
}

TEST(CaseJsonTest, EveryDtypeComesBack) {
  for (const DType dtype : kAllDTypes) {
    Case c = some_case();
    c.dtype = dtype;
    EXPECT_EQ(case_from_json(sent(case_to_json(c))).dtype, dtype);
  }
}

TEST(CaseJsonTest, RefusesWhatIsNoCase) {
  json bad = case_to_json(some_case());
  bad["dtype"] = "fp8";
  EXPECT_THROW(case_from_json(bad), std::invalid_argument);
  for (const char* key : {"op", "axes", "dtype", "profile"}) {
    json without = case_to_json(some_case());
    without.erase(key);
    EXPECT_THROW(case_from_json(without), json::exception) << key;
  }
}

TEST(RequestTest, ACaseComesBackAsItWas) {
  CaseRequest request;
  request.c = some_case();
  request.timed = true;
  request.seed = std::numeric_limits<uint64_t>::max();
  request.time_budget_s = 1.25;
  request.repetitions = 7;
  request.reproduce = "run 'a' \"b\"";
  request.started_at = "2026-03-01T12:00:00Z";
  request.binary_digest = "00ff";
  request.git_commit = "abc-dirty";
  const json message = sent(to_json(request));
  EXPECT_FALSE(is_mutant_request(message));
  const CaseRequest back = case_request_from_json(message);
  EXPECT_EQ(back.c.id(), request.c.id());
  EXPECT_EQ(back.timed, request.timed);
  EXPECT_EQ(back.seed, request.seed);
  EXPECT_EQ(back.time_budget_s, request.time_budget_s);
  EXPECT_EQ(back.repetitions, request.repetitions);
  EXPECT_EQ(back.reproduce, request.reproduce);
  EXPECT_EQ(back.started_at, request.started_at);
  EXPECT_EQ(back.binary_digest, request.binary_digest);
  EXPECT_EQ(back.git_commit, request.git_commit);
}

TEST(RequestTest, AMutantComesBackAsItWas) {
  MutantRequest request{
      "rms_norm", "tigon_mutants::rms_norm.no_eps", {some_case(), some_case()}, 9};
  request.cases[1].profile = "zeros";
  const json message = sent(to_json(request));
  EXPECT_TRUE(is_mutant_request(message));
  const MutantRequest back = mutant_request_from_json(message);
  EXPECT_EQ(back.op, request.op);
  EXPECT_EQ(back.mutant, request.mutant);
  EXPECT_EQ(back.seed, request.seed);
  ASSERT_EQ(back.cases.size(), 2u);
  EXPECT_EQ(back.cases[0].id(), request.cases[0].id());
  EXPECT_EQ(back.cases[1].id(), request.cases[1].id());
}

TEST(RequestTest, RefusesWhatIsNone) {
  EXPECT_THROW(case_request_from_json(json::object()), json::exception);
  EXPECT_THROW(mutant_request_from_json(json::object()), json::exception);
}

}  // namespace
}  // namespace tigon::harness
