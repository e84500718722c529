// Other ways to run the same computation; a right operator gives the same bits in each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/verify/program.h"
#include "harness/verify/run.h"
#include "harness/verify/truth.h"

namespace tigon::harness {

struct Lane {
  const char* when;  // as it stands in a reason: "on a side stream"
  std::function<Run(const PreparedCase&, const Program::Forward&)> run;
};

// The lanes that a device has:
//   as an inner node of a larger graph, where nobody but the operator holds the upstream gradient;
//   on a stream other than the default one, which is busy with other work (CUDA);
//   captured in a CUDA graph and replayed, which no host synchronisation survives (CUDA);
//   while another device is the current one (with two GPUs or more).
std::vector<Lane> lanes_of(c10::Device device);

// Runs once, changes the values where the arguments lie, and runs again: whoever remembers results
// by address gives the old ones. Returns what differs from a run on other memory, empty when
// nothing.
std::string check_new_values_in_place(const PreparedCase& prepared,
                                      const Program::Forward& forward);

}  // namespace tigon::harness
