// A guarded world for an operator to run in: every block of memory that LibTorch hands out is
// filled with a chosen byte and has a band of known bytes before and after it.
//
// With the fill 0xFF every element of a new block is NaN in every float type, so that a result
// which was never written, or a workspace that was read before it was written, shows in the
// outputs. A write before or past a block changes its bands. Outputs and workspaces that an
// operator allocates inside are covered, for they come from the same allocators.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <vector>

namespace tigon::harness {

class GuardLedger;

// One at a time. Blocks may outlive the scope; their bands are checked when they are released.
class GuardScope {
 public:
  GuardScope(c10::Device device, unsigned char fill);
  ~GuardScope();
  GuardScope(const GuardScope&) = delete;
  GuardScope& operator=(const GuardScope&) = delete;

  // Checks the bands of all blocks that live, and reports them and those that were released:
  // "3 of 1024 guard bytes after a block of 16384 bytes were overwritten". Waits for the device.
  std::vector<std::string> violations();

  // Blocks that were handed out so far.
  int blocks() const;

 private:
  struct Installed;
  std::shared_ptr<GuardLedger> ledger_;
  std::unique_ptr<Installed> installed_;
};

}  // namespace tigon::harness
