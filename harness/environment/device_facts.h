// What a process learns of the devices by asking LibTorch. Called in workers only.
#pragma once

#include <c10/core/Device.h>

#include <nlohmann/json.hpp>

namespace tigon::harness {

// {"device": "cuda:0", "name": "NVIDIA H200", "memory_bytes": ..., ...}: what a record's reader
// needs to know of the device that made it. Throws c10::Error when there is no such device.
nlohmann::json device_facts(c10::Device device);

// {"cpu": {...}, "cuda": [{"name", "memory_bytes"}, ...], "cuda_error": "why there is none"}.
nlohmann::json all_device_facts();

}  // namespace tigon::harness
