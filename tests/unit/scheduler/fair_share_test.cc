// Method: accounts of two submitters over given times.
#include "coordinator/scheduler/fair_share.h"

#include "gtest/gtest.h"

namespace dynbench::scheduler {
namespace {

constexpr MonotonicTime At(int64_t seconds) { return {seconds * kNsPerSecond}; }

TEST(FairShare, WhatIsPromisedCountsAtOnceAndWhatWasUsedFades) {
  FairShare share(100 * kNsPerSecond);
  EXPECT_EQ(share.Score("a", At(0)), 0);
  share.Promise("a", 60);
  EXPECT_EQ(share.Score("a", At(0)), 60);
  EXPECT_EQ(share.Score("b", At(0)), 0);
  share.Settle("a", 60, 80, At(80));
  EXPECT_NEAR(share.Score("a", At(80)), 80, 1e-9);
  EXPECT_NEAR(share.Score("a", At(180)), 40, 1e-9);
  EXPECT_NEAR(share.Score("a", At(380)), 10, 1e-9);
}

TEST(FairShare, ManyPromisesLeaveNoRestOfRounding) {
  FairShare share(kNsPerSecond);
  for (int i = 1; i <= 1000; ++i) share.Promise("a", 1.0 / i);
  for (int i = 1; i <= 1000; ++i) share.Settle("a", 1.0 / i, 0, At(1));
  EXPECT_EQ(share.Score("a", At(1)), 0);
}

}  // namespace
}  // namespace dynbench::scheduler
