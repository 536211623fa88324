#include "worker/agent/lane_layout.h"

#include <algorithm>

namespace dynbench::worker {
namespace {

constexpr int kMostLanes = 8;
constexpr size_t kCpusOfLane = 2;
constexpr int64_t kDeviceBytesOfLane = int64_t{12} << 30;

std::vector<int> Cpus(const std::vector<std::vector<int>>& cores, size_t begin, size_t end) {
  std::vector<int> cpus;
  for (size_t i = begin; i < end; ++i) cpus.insert(cpus.end(), cores[i].begin(), cores[i].end());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

size_t FewestCpus(const std::vector<std::vector<int>>& cores) {
  size_t fewest = cores.empty() ? 1 : cores[0].size();
  for (const auto& core : cores) fewest = std::min(fewest, core.size());
  return std::max<size_t>(fewest, 1);
}

// Whole physical cores where there is at least one for each lane.
std::vector<std::vector<int>> WholeCores(const std::vector<std::vector<int>>& cores, size_t lanes) {
  // The first core is left over: that is where a kernel's own work goes by default.
  const size_t with_spare = (cores.size() - 1) / lanes;
  const bool spare = with_spare * FewestCpus(cores) >= kCpusOfLane;
  const size_t each = spare ? with_spare : cores.size() / lanes;
  const size_t first = cores.size() - each * lanes;
  std::vector<std::vector<int>> layout;
  for (size_t lane = 0; lane < lanes; ++lane) {
    layout.push_back(Cpus(cores, first + lane * each, first + (lane + 1) * each));
  }
  return layout;
}

}  // namespace

int LanesOfGpu(const std::vector<std::vector<int>>& physical_cores, int64_t device_memory_bytes) {
  const size_t cores = physical_cores.size();
  const size_t cpus = cores > 1 ? Cpus(physical_cores, 1, cores).size() : 0;
  auto lanes = static_cast<int>(std::min<size_t>(cpus / kCpusOfLane, kMostLanes));
  if (device_memory_bytes > 0) {
    lanes = static_cast<int>(
        std::min<int64_t>(lanes, std::max<int64_t>(device_memory_bytes / kDeviceBytesOfLane, 1)));
  }
  return std::max(lanes, 1);
}

std::vector<std::vector<int>> LayOutLanes(const std::vector<std::vector<int>>& physical_cores,
                                          int lanes) {
  const std::vector<int> cpus = Cpus(physical_cores, 0, physical_cores.size());
  const auto count = static_cast<size_t>(std::max(lanes, 1));
  if (count == 1 || cpus.empty()) return std::vector<std::vector<int>>(count, cpus);
  if (physical_cores.size() >= count) return WholeCores(physical_cores, count);
  const size_t each = std::max<size_t>(cpus.size() / count, 1);
  std::vector<std::vector<int>> layout;
  for (size_t lane = 0; lane < count; ++lane) {
    const size_t first = lane * each % cpus.size();
    layout.emplace_back(cpus.begin() + first, cpus.begin() + first + each);
  }
  return layout;
}

}  // namespace dynbench::worker
