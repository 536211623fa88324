// How many lanes a GPU slot has, and which cores each of them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dynbench::worker {

// One lane for every logical CPU but two (compiling is one thread of Python), at most sixteen, with
// 8 GiB of device memory and 6 GiB of the host's for each; 0 bytes: not known. At least one.
int LanesOfGpu(const std::vector<std::vector<int>>& physical_cores, int64_t device_memory_bytes,
               int64_t host_memory_bytes);

// The cores of each lane: disjoint, equally many (so that compile seconds of lanes can be
// compared), physical cores whole. `physical_cores` holds the logical CPUs of each. One physical
// core is left to the worker where every lane still has two CPUs. Lanes share only when there are
// more of them than CPUs.
std::vector<std::vector<int>> LayOutLanes(const std::vector<std::vector<int>>& physical_cores,
                                          int lanes);

}  // namespace dynbench::worker
