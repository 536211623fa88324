#include "worker/runner/device.h"

#include <ATen/DeviceAccelerator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <stdexcept>

#include "worker/runner/phases.h"

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

double Device::TimeTinyLaunches(int launches) const {
  if (!is_accelerator_) return 0;
  // A real launch also where the compiler has a mode in force (fake tensors, functionalization).
  const c10::impl::ExcludeDispatchKeyGuard no_modes(
      c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot,
                           c10::DispatchKey::Functionalize}));
  const c10::Device here(c10::Device(type_).type(), at::accelerator::getDeviceIndex());
  const at::Tensor one = at::zeros({1}, at::TensorOptions().device(here));
  one.add_(1);  // the first launch loads the kernel
  Synchronize();
  const int64_t begin_ns = NowNs();
  for (int i = 0; i < launches; ++i) one.add_(1);
  Synchronize();
  return static_cast<double>(NowNs() - begin_ns) / 1e9 / launches;
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
