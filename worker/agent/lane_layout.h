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

// Of how many lanes one experiment takes the cores: of a model that compiles much longer than its
// suite's others (`compile_weight`: in medians of the suite; 0: not known) so many that it ends
// about when they do; one lane where there are few, or where lanes share cores. It depends on the
// model's suite and on the slot only, never on what runs beside it or ran before, so that a model's
// compile seconds are taken on the same number of cores night after night.
int LanesTaken(double compile_weight, const std::vector<std::vector<int>>& lane_cores);

}  // namespace dynbench::worker
