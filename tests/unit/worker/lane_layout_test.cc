// Method: hosts by their physical cores; invariants over many of them, and some worked out by hand.
#include "worker/agent/lane_layout.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

using Cores = std::vector<std::vector<int>>;

// The siblings of core i are i and i + count, as Linux numbers them.
Cores Host(int count, int siblings) {
  Cores cores(count);
  for (int core = 0; core < count; ++core) {
    for (int s = 0; s < siblings; ++s) cores[core].push_back(core + s * count);
  }
  return cores;
}

TEST(LaneLayout, LanesAreDisjointEqualAndKeepSiblingsTogether) {
  for (const int count : {1, 2, 3, 7, 8, 16, 48}) {
    for (const int siblings : {1, 2}) {
      for (int lanes = 2; lanes <= 8 && lanes <= count; ++lanes) {
        SCOPED_TRACE(std::to_string(count) + " cores with " + std::to_string(siblings) +
                     " CPUs each, " + std::to_string(lanes) + " lanes");
        const Cores layout = LayOutLanes(Host(count, siblings), lanes);
        ASSERT_EQ(layout.size(), static_cast<size_t>(lanes));
        std::set<int> seen;
        for (const auto& lane : layout) {
          EXPECT_EQ(lane.size(), layout[0].size());
          EXPECT_FALSE(lane.empty());
          std::set<int> whole(lane.begin(), lane.end());
          for (const int cpu : lane) {
            EXPECT_TRUE(seen.insert(cpu).second) << cpu;
            for (int s = 0; s < siblings; ++s) {
              EXPECT_EQ(whole.count(cpu % count + s * count), 1u) << "sibling of " << cpu;
            }
          }
        }
      }
    }
  }
}

TEST(LaneLayout, OneCoreIsLeftFreeWhereEveryLaneStillHasOne) {
  EXPECT_EQ(LayOutLanes(Host(16, 1), 7)[0], (std::vector<int>{2, 3}));
  EXPECT_EQ(LayOutLanes(Host(16, 1), 4)[0].size(), 3u);
  EXPECT_EQ(LayOutLanes(Host(9, 2), 8)[0], (std::vector<int>{1, 10}));
  EXPECT_EQ(LayOutLanes(Host(16, 1), 14)[0], (std::vector<int>{2}));
  EXPECT_EQ(LayOutLanes(Host(8, 2), 14)[0], (std::vector<int>{2})) << "in the order of cores";
  EXPECT_EQ(LayOutLanes(Host(4, 1), 4), (Cores{{0}, {1}, {2}, {3}})) << "not enough for that";
}

TEST(LaneLayout, OneLaneHasEverythingAndTooManyShare) {
  EXPECT_EQ(LayOutLanes(Host(4, 1), 1), (Cores{{0, 1, 2, 3}}));
  EXPECT_EQ(LayOutLanes(Host(1, 2), 2), (Cores{{0}, {1}}));
  EXPECT_EQ(LayOutLanes(Host(2, 1), 3), (Cores{{0}, {1}, {0}}));
  EXPECT_EQ(LayOutLanes({}, 2).size(), 2u);
}

TEST(LaneLayout, LanesOfAGpuFollowCoresAndMemory) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  EXPECT_EQ(LanesOfGpu(Host(16, 1), 140 * kGiB, 128 * kGiB), 14);
  EXPECT_EQ(LanesOfGpu(Host(8, 2), 140 * kGiB, 128 * kGiB), 14);
  EXPECT_EQ(LanesOfGpu(Host(64, 2), 140 * kGiB, 512 * kGiB), 16);
  EXPECT_EQ(LanesOfGpu(Host(16, 1), 40 * kGiB, 128 * kGiB), 5);
  EXPECT_EQ(LanesOfGpu(Host(16, 1), 140 * kGiB, 32 * kGiB), 5);
  EXPECT_EQ(LanesOfGpu(Host(16, 1), 8 * kGiB, 4 * kGiB), 1);
  EXPECT_EQ(LanesOfGpu(Host(16, 1), 0, 0), 14) << "memory not known";
  EXPECT_EQ(LanesOfGpu(Host(2, 1), 140 * kGiB, 0), 1);
  EXPECT_EQ(LanesOfGpu(Host(4, 1), 140 * kGiB, 0), 2);
  EXPECT_EQ(LanesOfGpu({}, 0, 0), 1);
}

TEST(LaneLayout, AModelThatCompilesMuchLongerThanItsSuiteTakesSeveralLanes) {
  const Cores lanes = LayOutLanes(Host(16, 1), 14);
  for (const double usual : {0.0, 0.4, 1.0, 2.2}) EXPECT_EQ(LanesTaken(usual, lanes), 1) << usual;
  EXPECT_EQ(LanesTaken(2.5, lanes), 2);
  EXPECT_EQ(LanesTaken(3.4, lanes), 3);
  EXPECT_EQ(LanesTaken(50, lanes), 4) << "no more than that of anything";
  int before = 1;
  for (double weight = 0; weight < 10; weight += 0.1) {
    EXPECT_GE(LanesTaken(weight, lanes), before) << weight;
    before = LanesTaken(weight, lanes);
  }
}

TEST(LaneLayout, WhereLanesAreFewOrShareCoresNobodyTakesSeveral) {
  EXPECT_EQ(LanesTaken(50, LayOutLanes(Host(16, 1), 4)), 1);
  EXPECT_EQ(LanesTaken(50, LayOutLanes(Host(4, 1), 9)), 1);
  EXPECT_EQ(LanesTaken(50, {}), 1);
}

}  // namespace
}  // namespace dynbench::worker
