// The one seam to accelerators: any device type that torch knows, through torch's accelerator
// interface. No other file of the runner calls a device.
//
// Thread-compatible. Calls on "cpu" do nothing and have no memory figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dynbench::runner {

class Device {
 public:
  // `type` is torch's name ("cpu", "cuda", "xpu", …). Throws std::invalid_argument when torch does
  // not know it or this build has no such accelerator.
  explicit Device(const std::string& type);

  const std::string& type() const { return type_; }
  bool is_accelerator() const { return is_accelerator_; }

  // Makes the accelerator with this index the current one of this thread; -1 leaves it.
  void Choose(int index) const;

  // Waits until the device has nothing queued.
  void Synchronize() const;

  // Seconds of host time per launch of the smallest kernel there is, `launches` of them queued
  // behind one another and waited for. 0 on "cpu".
  double TimeTinyLaunches(int launches) const;

  // Gives cached memory back and starts a new peak, as upstream does before each phase.
  void ResetMemory() const;
  // Bytes of the caching allocator; nothing where the device has none.
  std::optional<int64_t> AllocatedBytes() const;
  std::optional<int64_t> AllocatedPeakBytes() const;

 private:
  std::string type_;
  bool is_accelerator_ = false;
};

}  // namespace dynbench::runner
