#include "worker/agent/slot_plan.h"

#include <algorithm>

namespace dynbench::worker {

namespace {

// A model that eats all memory ends with an error of its own, before the kernel ends whoever it
// likes best. What is left is for the worker, the system and the zygote.
int64_t ProcessMemory(const Inventory& inventory) {
  return inventory.memory_limit_bytes - inventory.memory_limit_bytes / 16;
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
    slot.lanes = lanes > 0 ? lanes : std::clamp(static_cast<int>(slot.cores.size()) / 4, 1, 8);
    slots.push_back(slot);
  }
  return slots;
}

}  // namespace dynbench::worker
