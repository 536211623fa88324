#include "worker/agent/slot_plan.h"

#include <set>

#include "worker/agent/lane_layout.h"

namespace dynbench::worker {

namespace {

// A model that eats all memory ends with an error of its own, before the kernel ends whoever it
// likes best. What is left is for the worker, the system and the zygote.
int64_t ProcessMemory(const Inventory& inventory) {
  return inventory.memory_limit_bytes - inventory.memory_limit_bytes / 16;
}

// The logical CPUs of a slot by physical core; one that the inventory does not know is its own.
std::vector<std::vector<int>> PhysicalCores(const Inventory& inventory,
                                            const std::vector<int>& cpus) {
  std::vector<std::vector<int>> physical;
  std::set<int> left(cpus.begin(), cpus.end());
  for (const Core& core : inventory.cores) {
    std::vector<int> own;
    for (const int cpu : core.cpus) {
      if (left.erase(cpu) > 0) own.push_back(cpu);
    }
    if (!own.empty()) physical.push_back(own);
  }
  for (const int cpu : left) physical.push_back({cpu});
  return physical;
}

}  // namespace

std::vector<SlotShape> PlanSlots(const Inventory& inventory, const std::vector<int>& cores,
                                 const std::vector<Gpu>& gpus, int lanes) {
  std::vector<SlotShape> slots;
  if (gpus.empty()) {
    SlotShape slot;
    slot.device = "cpu";
    slot.device_name = inventory.cpu_model;
    slot.cores = cores;
    slot.memory_bytes = inventory.memory_limit_bytes;
    slot.process_memory_bytes = ProcessMemory(inventory);
    slot.lanes = lanes > 0 ? lanes : 1;
    return {slot};
  }
  const int64_t host_bytes = inventory.memory_limit_bytes / static_cast<int64_t>(gpus.size());
  for (size_t i = 0; i < gpus.size(); ++i) {
    SlotShape slot;
    slot.index = static_cast<int>(i);
    slot.device = "cuda";
    slot.device_name = gpus[i].name;
    slot.device_uuid = gpus[i].uuid;
    slot.device_index = gpus[i].index;
    slot.memory_bytes = gpus[i].memory_bytes;
    slot.process_memory_bytes = ProcessMemory(inventory);
    slot.cores.assign(cores.begin() + cores.size() * i / gpus.size(),
                      cores.begin() + cores.size() * (i + 1) / gpus.size());
    const auto physical = PhysicalCores(inventory, slot.cores);
    slot.lanes = lanes > 0 ? lanes : LanesOfGpu(physical, slot.memory_bytes, host_bytes);
    slot.lane_cores = LayOutLanes(physical, slot.lanes);
    slots.push_back(slot);
  }
  return slots;
}

}  // namespace dynbench::worker
