// Method: the slices that upstream is known to make (names and numbers from its own arithmetic),
// and properties over many sizes: every item in exactly one partition, LPT within Graham's bound.
#include "common/plan/partition.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::plan {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(StaticSlice, IsUpstreams) {
  EXPECT_THAT(StaticSlice(18, 7, 0), Pair(0, 2));
  EXPECT_THAT(StaticSlice(18, 7, 6), Pair(12, 18));
  EXPECT_THAT(StaticSlice(18, 15, 14), Pair(14, 18));
  EXPECT_THAT(StaticSlice(40, 9, 8), Pair(32, 40));
  EXPECT_THAT(StaticSlice(105, 9, 8), Pair(88, 105));
  EXPECT_THAT(StaticSlice(18, 40, 0), Pair(0, 0));  // fewer items than partitions
  EXPECT_THAT(StaticSlice(18, 40, 39), Pair(0, 18));
  EXPECT_THAT(StaticSlice(0, 3, 2), Pair(0, 0));
}

TEST(StaticSlice, CoversEveryItemOnce) {
  for (size_t n = 0; n < 60; ++n) {
    for (int total = 1; total < 70; ++total) {
      size_t next = 0;
      for (int id = 0; id < total; ++id) {
        const auto [begin, end] = StaticSlice(n, total, id);
        ASSERT_EQ(begin, next);
        ASSERT_LE(begin, end);
        next = end;
      }
      ASSERT_EQ(next, n);
    }
  }
}

TEST(StaticSliceDeathTest, AnIdOutsideIsAProgrammersError) {
  EXPECT_DEATH(StaticSlice(18, 7, 7), "partition 7 of 7");
}

TEST(BalancedPartitions, LongestFirst) {
  EXPECT_THAT(BalancedPartitions({1, 5, 3, 4}, 2), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(BalancedPartitions({2, 2, 2}, 3), ElementsAre(0, 1, 2));  // ties in order
  EXPECT_THAT(BalancedPartitions({}, 4), ElementsAre());
}

TEST(BalancedPartitions, StaysWithinGrahamsBound) {
  constexpr unsigned kSeed = 20261129;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> items(1 + random() % 40);
    for (double& item : items) item = 1 + random() % 1000;
    const int total = 1 + static_cast<int>(random() % 8);
    const std::vector<int> partitions = BalancedPartitions(items, total);
    std::vector<double> loads(static_cast<size_t>(total), 0);
    for (size_t i = 0; i < items.size(); ++i) loads[static_cast<size_t>(partitions[i])] += items[i];
    // Both are lower bounds of the optimum except where m + 1 long items meet; LPT is never above
    // the mean plus the longest.
    const double sum = std::accumulate(items.begin(), items.end(), 0.0);
    const double longest = *std::max_element(items.begin(), items.end());
    EXPECT_LE(*std::max_element(loads.begin(), loads.end()), sum / total + longest);
  }
}

TEST(DynamicChunk, ShrinksTowardsTheEnd) {
  EXPECT_EQ(DynamicChunk(100, 2, 64), 25u);
  EXPECT_EQ(DynamicChunk(100, 2, 8), 8u);
  EXPECT_EQ(DynamicChunk(3, 2, 8), 1u);
  EXPECT_EQ(DynamicChunk(5, 2, 8), 2u);
  EXPECT_EQ(DynamicChunk(0, 2, 8), 0u);
  EXPECT_EQ(DynamicChunk(4, 0, 8), 2u);  // no slot yet counts as one
}

}  // namespace
}  // namespace dynbench::plan
