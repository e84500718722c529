// Implementations that look right and are not: what the harness must not be fooled by.
#pragma once

#include <vector>

namespace tigon::synthetic {

struct Cheat {
  const char* name;    // of the dispatcher operator tigon_synthetic::<name>
  double factor = 2;   // what it should compute: y = factor * x
  int outputs = 1;     // and so often
  bool timed = false;  // it only shows where it is measured
};

const std::vector<Cheat>& cheats();

}  // namespace tigon::synthetic
