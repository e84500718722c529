#include "harness/environment/run_facts.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <regex>
#include <string>
#include <vector>

#include "harness/record/schema.h"

namespace tigon::harness {
namespace {

TEST(RunFactsTest, NameAllThatARunIsMadeOf) {
  const nlohmann::json facts = run_facts({"all", "bench", "--seed=1"});
  EXPECT_EQ(facts.at("schema"), kSchemaVersion);
  EXPECT_EQ(facts.at("command_line"), (std::vector<std::string>{"all", "bench", "--seed=1"}));
  EXPECT_EQ(facts.at("binary_digest"), binary_digest());
  EXPECT_EQ(facts.at("git_commit"), git_commit());
  const auto matches = [&facts](const char* key, const char* pattern) {
    return std::regex_match(facts.at(key).get<std::string>(), std::regex(pattern));
  };
  EXPECT_TRUE(matches("compiler", "g\\+\\+ \\d+\\..*")) << facts;
  EXPECT_TRUE(matches("libtorch", "\\d+\\.\\d+\\.\\d+.*")) << facts;
  EXPECT_TRUE(matches("cuda_toolkit", "\\d+\\.\\d+")) << facts;
  EXPECT_TRUE(matches("system", "Linux .+")) << facts;
}

TEST(UtcNowTest, IsIso8601) {
  EXPECT_TRUE(std::regex_match(utc_now(),
                               std::regex("20\\d\\d-[01]\\d-[0-3]\\dT[0-2]\\d:[0-5]\\d:[0-6]\\dZ")))
      << utc_now();
}

TEST(UtcNowTest, IsUtcWhateverTheTimeZone) {
  ::setenv("TZ", "Pacific/Kiritimati", 1);  // 14 hours ahead
  ::tzset();
  const std::string far = utc_now().substr(0, 13);
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  EXPECT_EQ(far, utc_now().substr(0, 13));
  ::unsetenv("TZ");
  ::tzset();
}

TEST(BinaryDigestTest, IsSixteenHexDigits) {
  EXPECT_TRUE(std::regex_match(binary_digest(), std::regex("[0-9a-f]{16}"))) << binary_digest();
  EXPECT_NE(binary_digest(), "0000000000000000");
}

// What another process with the same binary says; of another one, it is different.
std::string digest_printed_by(const std::string& binary) {
  const std::string command = binary + " --gtest_filter=BinaryDigestTest.DISABLED_Print" +
                              " --gtest_also_run_disabled_tests | grep ^digest=";
  FILE* const pipe = ::popen(command.c_str(), "r");
  char line[64] = "";
  const bool read = std::fgets(line, sizeof line, pipe) != nullptr;
  ::pclose(pipe);
  return read ? std::string(line) : "";
}

TEST(BinaryDigestTest, DISABLED_Print) { std::printf("digest=%s\n", binary_digest().c_str()); }

TEST(BinaryDigestTest, BelongsToTheBytesOfTheBinary) {
  const std::string copy = ::testing::TempDir() + "run_facts_copy";
  ASSERT_EQ(::system(("cp /proc/" + std::to_string(::getpid()) + "/exe '" + copy + "'").c_str()),
            0);
  EXPECT_EQ(digest_printed_by("'" + copy + "'"), "digest=" + binary_digest() + "\n");
  ASSERT_EQ(::system(("printf x >>'" + copy + "'").c_str()), 0);
  const std::string changed = digest_printed_by("'" + copy + "'");
  EXPECT_EQ(changed.size(), std::string("digest=0123456789abcdef\n").size());
  EXPECT_NE(changed, "digest=" + binary_digest() + "\n");
  ::remove(copy.c_str());
}

}  // namespace
}  // namespace tigon::harness
