#include "harness/sweep/seed.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

namespace tigon::harness {
namespace {

TEST(Seed, MatchesThePublishedSequenceOfSplitmix64) {
  // The first outputs of splitmix64 from state 0: mix64 of the multiples of its increment.
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15), 0xe220a8397b1dcdafu);
  EXPECT_EQ(mix64(2 * 0x9e3779b97f4a7c15), 0x6e789e6aa1b965f4u);
}

TEST(Seed, MatchesThePublishedValuesOfFnv1a) {
  EXPECT_EQ(stable_hash(""), mix64(0xcbf29ce484222325));
  EXPECT_EQ(stable_hash("a"), mix64(0xaf63dc4c8601ec8c));
  EXPECT_EQ(stable_hash("foobar"), mix64(0x85944171f73967e8));
}

TEST(Seed, DependsOnCaseAndRun) {
  std::set<uint64_t> seeds;
  for (int i = 0; i < 1000; ++i) {
    for (uint64_t run = 0; run < 10; ++run) {
      seeds.insert(case_seed("op/rows=" + std::to_string(i) + "/fp32/normal", run));
    }
  }
  EXPECT_EQ(seeds.size(), 10000u);
  EXPECT_EQ(case_seed("a", 1), case_seed("a", 1));
}

TEST(Seed, NearNamesGiveUnrelatedSeeds) {
  int different_bits = 0;
  for (int i = 0; i < 1000; ++i) {
    different_bits += std::popcount(case_seed("rows=" + std::to_string(i), 0) ^
                                    case_seed("rows=" + std::to_string(i + 1), 0));
  }
  EXPECT_NEAR(different_bits / 1000.0, 32, 1);  // 8 standard deviations of the mean
}

}  // namespace
}  // namespace tigon::harness
