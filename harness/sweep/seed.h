// Seeds that depend on names alone, never on order, machine or standard library.
#pragma once

#include <cstdint>
#include <string_view>

namespace tigon::harness {

// FNV-1a over the bytes, finished by splitmix64 so that near names give unrelated values.
uint64_t stable_hash(std::string_view text);

// The finisher of splitmix64: a bijection of 64-bit values whose every output bit depends on every
// input bit.
uint64_t mix64(uint64_t value);

// The seed of one case in a run: the same whichever other cases run, and in whatever order.
uint64_t case_seed(std::string_view case_id, uint64_t run_seed);

}  // namespace tigon::harness
