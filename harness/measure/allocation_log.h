// What was allocated and released, in order, while a pass of an operation ran.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace tigon::harness {

// Thread-safe: LibTorch's autograd allocates on threads of its own.
class AllocationLog {
 public:
  // Returns the block's identity, to be given to remove().
  int64_t add(int64_t nbytes);
  void remove(int64_t block);

  // Bytes of the blocks that are alive, and the most that ever were at once.
  int64_t live_bytes() const;
  int64_t peak_bytes() const;

  // Begins a pass; a block belongs to the pass that was under way when it was allocated.
  void begin_pass();
  // The most bytes at once, since begin_pass, in blocks that were both allocated and released
  // since: the pass's workspace, whatever else it leaves behind or releases.
  int64_t pass_workspace_bytes() const;

 private:
  struct Block {
    int64_t nbytes;
    bool alive;
  };
  // Blocks are numbered in order; a pass's own are those from first_of_pass_ on.
  mutable std::mutex mutex_;
  std::vector<Block> blocks_;
  std::vector<int64_t>
      events_;  // of the pass: block + 1 when allocated, -(block + 1) when released
  int64_t first_of_pass_ = 0;
  int64_t live_ = 0;
  int64_t peak_ = 0;
};

}  // namespace tigon::harness
