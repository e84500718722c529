#include "harness/verify/guard.h"

#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>

#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "harness/memory/forwarding_cpu_allocator.h"
#include "harness/memory/forwarding_cuda_allocator.h"
#include "harness/memory/wrapped_block.h"

namespace tigon::harness {
namespace {

// A multiple of every alignment that the allocators promise, so that guarding changes none.
constexpr size_t kBand = 1024;
constexpr unsigned char kBandByte = 0xA5;

// The guard's own tensor operations allocate too: they are let through.
thread_local bool inside_guard = false;

struct InsideGuard {
  InsideGuard() : before(std::exchange(inside_guard, true)) {}
  ~InsideGuard() { inside_guard = before; }
  bool before;
};

at::Tensor bytes_at(void* data, size_t count, c10::Device device) {
  return at::from_blob(data, {static_cast<int64_t>(count)},
                       at::TensorOptions().dtype(at::kByte).device(device));
}

}  // namespace

class GuardLedger {
 public:
  GuardLedger(c10::Device device, unsigned char fill) : device_(device), fill_(fill) {}

  struct Block {
    char* data;
    size_t nbytes;
  };
  using Handle = std::list<Block>::iterator;

  Handle add(char* data, size_t nbytes) {
    const InsideGuard inside;
    bytes_at(data - kBand, kBand, device_).fill_(kBandByte);
    bytes_at(data, nbytes, device_).fill_(fill_);
    bytes_at(data + nbytes, kBand, device_).fill_(kBandByte);
    const std::lock_guard<std::mutex> lock(mutex_);
    ++handed_out_;
    return live_.insert(live_.end(), {data, nbytes});
  }

  void release(Handle block) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    check(*block, violations_);
    live_.erase(block);
  }

  std::vector<std::string> violations() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> found = violations_;
    for (const Block& block : live_) check(block, found);
    return found;
  }

  int handed_out() const { return handed_out_; }
  c10::Device device() const { return device_; }

 private:
  void check(const Block& block, std::vector<std::string>& found) noexcept {
    const InsideGuard inside;
    try {
      if (device_.is_cuda()) c10::cuda::device_synchronize();
      check_band(block, block.data - kBand, "before", found);
      check_band(block, block.data + block.nbytes, "after", found);
    } catch (const std::exception& error) {
      found.push_back(fmt::format("the guard bytes of a block of {} bytes could not be read: {}",
                                  block.nbytes, error.what()));
    }
  }

  void check_band(const Block& block, char* band, const char* where,
                  std::vector<std::string>& found) {
    const int64_t changed = bytes_at(band, kBand, device_).ne(kBandByte).sum().item<int64_t>();
    if (changed == 0) return;
    found.push_back(fmt::format("{} of {} guard bytes {} a block of {} bytes were overwritten",
                                changed, kBand, where, block.nbytes));
  }

  const c10::Device device_;
  const unsigned char fill_;
  std::mutex mutex_;
  std::list<Block> live_;
  std::vector<std::string> violations_;
  int handed_out_ = 0;
};

namespace {

c10::DataPtr guarded(c10::DataPtr inner, size_t nbytes,
                     const std::shared_ptr<GuardLedger>& ledger) {
  char* data = static_cast<char*>(inner.get()) + kBand;
  const auto block = ledger->add(data, nbytes);
  return wrap_block(std::move(inner), data, [ledger, block] { ledger->release(block); });
}

// LibTorch's storages remember the allocator that made them, so the two allocators live for ever;
// the ledger of the scope that is open says what they do.
std::shared_ptr<GuardLedger>& open_ledger() {
  static std::shared_ptr<GuardLedger> ledger;
  return ledger;
}

bool guards(c10::DeviceType type) {
  return !inside_guard && open_ledger() && open_ledger()->device().type() == type;
}

class GuardCpuAllocator final : public ForwardingCpuAllocator {
  c10::DataPtr on_allocate(size_t nbytes) override {
    if (!guards(c10::DeviceType::CPU)) return original().allocate(nbytes);
    return guarded(original().allocate(nbytes + 2 * kBand), nbytes, open_ledger());
  }
};

class GuardCudaAllocator final : public ForwardingCudaAllocator {
  c10::DataPtr on_allocate(size_t nbytes) override {
    if (!guards(c10::DeviceType::CUDA)) return original().allocate(nbytes);
    return guarded(original().allocate(nbytes + 2 * kBand), nbytes, open_ledger());
  }
};

}  // namespace

struct GuardScope::Installed {
  std::optional<ScopedCpuAllocator> cpu;
  std::optional<ScopedCudaAllocator> cuda;
};

GuardScope::GuardScope(c10::Device device, unsigned char fill)
    : ledger_(std::make_shared<GuardLedger>(device, fill)),
      installed_(std::make_unique<Installed>()) {
  static auto* const cpu = new GuardCpuAllocator;
  static auto* const cuda = new GuardCudaAllocator;
  open_ledger() = ledger_;
  if (device.is_cuda()) {
    installed_->cuda.emplace(*cuda);
  } else {
    installed_->cpu.emplace(*cpu);
  }
}

GuardScope::~GuardScope() {
  installed_.reset();
  open_ledger().reset();
}

std::vector<std::string> GuardScope::violations() { return ledger_->violations(); }

int GuardScope::blocks() const { return ledger_->handed_out(); }

}  // namespace tigon::harness
