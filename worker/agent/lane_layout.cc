#include "worker/agent/lane_layout.h"

#include <algorithm>
#include <set>

namespace dynbench::worker {
namespace {

// Compiling is one thread of Python: on 16 CPUs fourteen lanes of one were done in 0.72 of the time
// that seven lanes of two took (docs/benchmarks.md).
constexpr int kMostLanes = 16;
constexpr size_t kCpusOfLane = 1;
constexpr size_t kCpusLeft = 2;  // for the worker, the coordinator and the zygotes
constexpr int64_t kDeviceBytesOfLane = int64_t{8} << 30;
// Of the host: torch, its libraries' heap and a model's copies.
constexpr int64_t kHostBytesOfLane = int64_t{6} << 30;

// What compiling takes on more than one CPU, in what it takes on one, by Amdahl's law: the longest
// of 24 TIMM models took 106 s on one CPU and 50 on the host's 16 (docs/benchmarks.md, "lanes").
constexpr double kSerial = 0.44;
// The longest of a suite may take so many times its median; with 24 models on fourteen lanes that
// is about what each lane has to do.
constexpr double kMostOfMedian = 2.25;
constexpr size_t kFewestLanesToShare = 8;
constexpr size_t kMostLanesTaken = 4;

double TimeOn(size_t cpus) { return kSerial + (1 - kSerial) / static_cast<double>(cpus); }

std::vector<int> Cpus(const std::vector<std::vector<int>>& cores, size_t begin, size_t end) {
  std::vector<int> cpus;
  for (size_t i = begin; i < end; ++i) cpus.insert(cpus.end(), cores[i].begin(), cores[i].end());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

// Whole physical cores where there is at least one for each lane.
std::vector<std::vector<int>> WholeCores(const std::vector<std::vector<int>>& cores, size_t lanes) {
  // The first core is left over: that is where a kernel's own work goes by default.
  const size_t with_spare = (cores.size() - 1) / lanes;
  const size_t each = with_spare > 0 ? with_spare : cores.size() / lanes;
  const size_t first = cores.size() - each * lanes;
  std::vector<std::vector<int>> layout;
  for (size_t lane = 0; lane < lanes; ++lane) {
    layout.push_back(Cpus(cores, first + lane * each, first + (lane + 1) * each));
  }
  return layout;
}

}  // namespace

int LanesOfGpu(const std::vector<std::vector<int>>& physical_cores, int64_t device_memory_bytes,
               int64_t host_memory_bytes) {
  const size_t cpus = Cpus(physical_cores, 0, physical_cores.size()).size();
  auto lanes = static_cast<int64_t>(
      std::min<size_t>(cpus > kCpusLeft ? (cpus - kCpusLeft) / kCpusOfLane : 1, kMostLanes));
  if (device_memory_bytes > 0) lanes = std::min(lanes, device_memory_bytes / kDeviceBytesOfLane);
  if (host_memory_bytes > 0) lanes = std::min(lanes, host_memory_bytes / kHostBytesOfLane);
  return static_cast<int>(std::max<int64_t>(lanes, 1));
}

std::vector<std::vector<int>> LayOutLanes(const std::vector<std::vector<int>>& physical_cores,
                                          int lanes) {
  const std::vector<int> cpus = Cpus(physical_cores, 0, physical_cores.size());
  const auto count = static_cast<size_t>(std::max(lanes, 1));
  if (count == 1 || cpus.empty()) return std::vector<std::vector<int>>(count, cpus);
  if (physical_cores.size() >= count) return WholeCores(physical_cores, count);
  const size_t each = std::max<size_t>(cpus.size() / count, 1);
  const size_t left = cpus.size() > each * count ? cpus.size() - each * count : 0;
  std::vector<std::vector<int>> layout;
  for (size_t lane = 0; lane < count; ++lane) {
    const size_t first = (left + lane * each) % cpus.size();
    layout.emplace_back(cpus.begin() + first, cpus.begin() + first + each);
  }
  return layout;
}

int LanesTaken(double compile_weight, const std::vector<std::vector<int>>& lane_cores) {
  if (lane_cores.size() < kFewestLanesToShare) return 1;
  std::set<int> seen;
  for (const std::vector<int>& lane : lane_cores) {
    if (lane.size() != lane_cores[0].size() || lane.empty()) return 1;
    for (const int cpu : lane) {
      if (!seen.insert(cpu).second) return 1;
    }
  }
  const size_t each = lane_cores[0].size();
  size_t taken = 1;
  while (taken < kMostLanesTaken &&
         compile_weight * TimeOn(taken * each) > kMostOfMedian * TimeOn(each)) {
    ++taken;
  }
  return static_cast<int>(taken);
}

}  // namespace dynbench::worker
