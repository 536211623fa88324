// Cutting a list into partitions. Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace dynbench::plan {

// Upstream's slice (upstream.md 2.10): size = n / total; partition p covers [p*size, (p+1)*size)
// and the last takes the whole remainder. Requires 0 <= id < total. Returns [begin, end).
std::pair<size_t, size_t> StaticSlice(size_t n, int total, int id);

// Longest processing time first: each item, longest first, goes to the partition with the least
// time so far (at most 4/3 - 1/(3m) of the optimum; Graham 1969). Returns the partition of each
// item.
std::vector<int> BalancedPartitions(const std::vector<double>& expected_s, int total);

// How many experiments a slot leases at once under `dynamic`: guided self-scheduling
// (Polychronopoulos & Kuck 1987), ceil(waiting / (2 * slots)), at least 1 (of any that
// wait) and at most `limit`; 0 slots count as one.
size_t DynamicChunk(size_t waiting, size_t slots, size_t limit);

}  // namespace dynbench::plan
