#include "worker/runner/device.h"

#include <ATen/DeviceAccelerator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>

#include <stdexcept>

namespace dynbench::runner {
namespace {

// The total over all pools; torch keeps small and large ones apart in the others.
constexpr size_t kAllPools = 0;

std::optional<c10::CachingDeviceAllocator::DeviceStats> Stats(const Device& device) {
  if (!device.is_accelerator()) return std::nullopt;
  try {
    auto* allocator = at::getDeviceAllocator(c10::Device(device.type()).type());
    return allocator->getDeviceStats(at::accelerator::getDeviceIndex());
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

}  // namespace

Device::Device(const std::string& type) : type_(type) {
  c10::DeviceType wanted;
  try {
    wanted = c10::Device(type).type();
  } catch (const c10::Error&) {
    throw std::invalid_argument("torch knows no device type \"" + type + "\"");
  }
  if (wanted == c10::DeviceType::CPU) return;
  if (at::accelerator::getAccelerator(/*checked=*/false) != wanted) {
    throw std::invalid_argument("this build of torch has no accelerator \"" + type + "\"");
  }
  is_accelerator_ = true;
}

void Device::Choose(int index) const {
  if (is_accelerator_ && index >= 0) {
    at::accelerator::setDeviceIndex(static_cast<c10::DeviceIndex>(index));
  }
}

void Device::Synchronize() const {
  if (is_accelerator_) at::accelerator::synchronizeDevice(at::accelerator::getDeviceIndex());
}

void Device::ResetMemory() const {
  if (!is_accelerator_) return;
  try {
    auto* allocator = at::getDeviceAllocator(c10::Device(type_).type());
    allocator->resetPeakStats(at::accelerator::getDeviceIndex());
    allocator->emptyCache();
  } catch (const c10::Error&) {
    // No caching allocator (MPS of some versions): no memory figures either.
  }
}

std::optional<int64_t> Device::AllocatedBytes() const {
  const auto stats = Stats(*this);
  if (!stats) return std::nullopt;
  return stats->allocated_bytes[kAllPools].current;
}

std::optional<int64_t> Device::AllocatedPeakBytes() const {
  const auto stats = Stats(*this);
  if (!stats) return std::nullopt;
  return stats->allocated_bytes[kAllPools].peak;
}

}  // namespace dynbench::runner
