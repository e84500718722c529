#include "harness/sweep/seed.h"

namespace tigon::harness {

uint64_t mix64(uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9;
  value ^= value >> 27;
  value *= 0x94d049bb133111eb;
  value ^= value >> 31;
  return value;
}

uint64_t stable_hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3;
  }
  return mix64(hash);
}

uint64_t case_seed(std::string_view case_id, uint64_t run_seed) {
  // The odd constant (the golden ratio in 64 bits) keeps run seed 0 from leaving the hash as it is.
  return mix64(stable_hash(case_id) ^ mix64(run_seed + 0x9e3779b97f4a7c15));
}

}  // namespace tigon::harness
