// Where this process takes its memory from on a host with several NUMA nodes.
#pragma once

#include <string>
#include <vector>

namespace dynbench::runner {

// The nodes of `cores`, ascending, from a folder laid out as /sys/devices/system/cpu. Empty when
// the kernel knows of no nodes.
std::vector<int> NodesOf(const std::vector<int>& cores,
                         const std::string& cpu_folder = "/sys/devices/system/cpu");

// Takes what this process allocates from now on from `nodes` and no others, its later threads and
// children included. Throws std::runtime_error naming the nodes when the kernel refuses.
void BindMemory(const std::vector<int>& nodes);

// Whether the launch profile says `numa: local`; the worker tells it by the variable DYNBENCH_NUMA.
bool MemoryIsLocal();

}  // namespace dynbench::runner
