#include "common/plan/partition.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "common/base/check.h"

namespace dynbench::plan {

std::pair<size_t, size_t> StaticSlice(size_t n, int total, int id) {
  CHECK(id >= 0 && id < total) << "partition " << id << " of " << total;
  const size_t size = n / static_cast<size_t>(total);
  const size_t begin = static_cast<size_t>(id) * size;
  return {begin, id + 1 == total ? n : begin + size};
}

std::vector<int> BalancedPartitions(const std::vector<double>& expected_s, int total) {
  CHECK_GE(total, 1);
  std::vector<size_t> longest_first(expected_s.size());
  std::iota(longest_first.begin(), longest_first.end(), size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](size_t a, size_t b) { return expected_s[a] > expected_s[b]; });
  using Load = std::pair<double, int>;  // seconds so far, partition: ties go to the lowest number
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int p = 0; p < total; ++p) loads.emplace(0.0, p);
  std::vector<int> partitions(expected_s.size(), 0);
  for (const size_t item : longest_first) {
    const auto [load, partition] = loads.top();
    loads.pop();
    partitions[item] = partition;
    loads.emplace(load + expected_s[item], partition);
  }
  return partitions;
}

size_t DynamicChunk(size_t waiting, size_t slots, size_t limit) {
  const size_t takers = 2 * std::max<size_t>(1, slots);
  const size_t share = (waiting + takers - 1) / takers;
  return std::min(waiting, std::min(std::max<size_t>(1, limit), std::max<size_t>(1, share)));
}

}  // namespace dynbench::plan
