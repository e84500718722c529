#include "harness/cli/devices.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/cli/options.h"

namespace tigon::harness {
namespace {

using Texts = std::vector<std::string>;

nlohmann::json machine(int gpus) {
  nlohmann::json facts = {{"cpu", {{"device", "cpu"}, {"name", "Some CPU"}}},
                          {"cuda", nlohmann::json::array()}};
  for (int i = 0; i < gpus; ++i) {
    facts["cuda"].push_back({{"device", "cuda:" + std::to_string(i)}, {"name", "Some GPU"}});
  }
  if (gpus == 0) facts["cuda_error"] = "Found no NVIDIA driver";
  return facts;
}

Texts chosen(const Texts& asked, int gpus) {
  Texts ids;
  for (const ChosenDevice& device : choose_devices(asked, machine(gpus))) ids.push_back(device.id);
  return ids;
}

std::string error_of(const Texts& asked, int gpus) {
  try {
    choose_devices(asked, machine(gpus));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ChooseDevicesTest, WithoutAWordEveryGpuElseTheCpu) {
  EXPECT_EQ(chosen({}, 0), Texts{"cpu"});
  EXPECT_EQ(chosen({}, 1), Texts{"cuda:0"});
  EXPECT_EQ(chosen({}, 2), (Texts{"cuda:0", "cuda:1"}));
}

TEST(ChooseDevicesTest, TakesWhatIsAskedForOnce) {
  EXPECT_EQ(chosen({"cpu"}, 2), Texts{"cpu"});
  EXPECT_EQ(chosen({"cuda"}, 2), (Texts{"cuda:0", "cuda:1"}));
  EXPECT_EQ(chosen({"cuda:1"}, 2), Texts{"cuda:1"});
  EXPECT_EQ(chosen({"all"}, 2), (Texts{"cpu", "cuda:0", "cuda:1"}));
  EXPECT_EQ(chosen({"all"}, 0), Texts{"cpu"});
  EXPECT_EQ(chosen({"cuda:1", "cpu", "cuda", "cpu"}, 2), (Texts{"cuda:1", "cpu", "cuda:0"}));
}

TEST(ChooseDevicesTest, KeepsNameAndKind) {
  const std::vector<ChosenDevice> devices = choose_devices({"all"}, machine(1));
  EXPECT_EQ(devices[0].name, "Some CPU");
  EXPECT_EQ(devices[0].kind, DeviceKind::kCpu);
  EXPECT_EQ(devices[1].name, "Some GPU");
  EXPECT_EQ(devices[1].kind, DeviceKind::kCuda);
}

TEST(ChooseDevicesTest, WhatIsNotThereIsNamedBesideWhatIs) {
  EXPECT_EQ(error_of({"cuda:2"}, 2),
            "--device is \"cuda:2\", expected cpu, cuda, cuda:N or all; here: cpu, cuda:0, cuda:1");
  EXPECT_EQ(error_of({"cpu", "gpu"}, 1),
            "--device is \"gpu\", expected cpu, cuda, cuda:N or all; here: cpu, cuda:0");
  EXPECT_EQ(error_of({"cuda"}, 0),
            "--device is \"cuda\", expected cpu, cuda, cuda:N or all; here: cpu (no GPU: Found no "
            "NVIDIA driver)");
}

}  // namespace
}  // namespace tigon::harness
