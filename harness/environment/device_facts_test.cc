#include "harness/environment/device_facts.h"

#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <string>

namespace tigon::harness {
namespace {

TEST(DeviceFactsTest, OfTheCpu) {
  const nlohmann::json facts = device_facts(c10::kCPU);
  EXPECT_EQ(facts.at("device"), "cpu");
  EXPECT_FALSE(facts.at("name").get<std::string>().empty());
  EXPECT_GE(facts.at("threads"), 1);
  EXPECT_FALSE(facts.at("libtorch_capability").get<std::string>().empty());
  EXPECT_GT(facts.at("available_memory_bytes"), 1 << 20);
}

TEST(DeviceFactsTest, OfAllDevicesSayTheGpusOrWhyThereIsNone) {
  const nlohmann::json facts = all_device_facts();
  EXPECT_EQ(facts.at("cpu").at("device"), "cpu");
  const auto gpus = static_cast<size_t>(c10::cuda::device_count());
  EXPECT_EQ(facts.at("cuda").size(), gpus);
  EXPECT_EQ(facts.contains("cuda_error"), gpus == 0);
  if (gpus == 0) {
    EXPECT_EQ(facts.at("cuda_error").get<std::string>().find('\n'), std::string::npos);
    return;
  }
  const nlohmann::json& gpu = facts.at("cuda").at(0);
  EXPECT_EQ(gpu.at("device"), "cuda:0");
  EXPECT_GT(gpu.at("memory_bytes"), 1 << 30);
  EXPECT_GT(gpu.at("multiprocessors"), 0);
  EXPECT_EQ(device_facts(c10::Device("cuda:0")).at("name"), gpu.at("name"));
}

}  // namespace
}  // namespace tigon::harness
