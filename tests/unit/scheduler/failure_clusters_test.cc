// Method: failures told one by one, as slots of two workers report them.
#include "coordinator/scheduler/failure_clusters.h"

#include "coordinator/scheduler/backoff.h"
#include "gtest/gtest.h"

namespace dynbench::scheduler {
namespace {

constexpr int64_t kWindowNs = 100 * kNsPerSecond;
constexpr MonotonicTime At(int64_t seconds) { return {seconds * kNsPerSecond}; }
const SlotId kSlot{WorkerId("w"), 0};
const SlotId kOther{WorkerId("v"), 0};

TEST(FailureClusters, EqualFailuresInARowStopTheSlot) {
  FailureClusters clusters(3, kWindowNs);
  EXPECT_FALSE(clusters.Failed(kSlot, "gone", At(1)).stop_slot);
  EXPECT_FALSE(clusters.Failed(kSlot, "other", At(2)).stop_slot) << "another one: begins anew";
  EXPECT_FALSE(clusters.Failed(kSlot, "gone", At(3)).stop_slot);
  EXPECT_FALSE(clusters.Failed(kSlot, "gone", At(4)).stop_slot);
  clusters.Succeeded(kSlot);
  EXPECT_FALSE(clusters.Failed(kSlot, "gone", At(5)).stop_slot) << "it can work";
  EXPECT_FALSE(clusters.Failed(kSlot, "gone", At(6)).stop_slot);
  const auto verdict = clusters.Failed(kSlot, "gone", At(7));
  EXPECT_TRUE(verdict.stop_slot);
  EXPECT_EQ(verdict.failures, 3);
}

TEST(FailureClusters, TheSameOnSeveralWorkersStopsNobodyAndIsReportedOnce) {
  FailureClusters clusters(3, kWindowNs);
  (void)clusters.Failed(kOther, "429", At(1));
  (void)clusters.Failed(kSlot, "429", At(2));
  const auto verdict = clusters.Failed(kSlot, "429", At(3));
  EXPECT_FALSE(verdict.stop_slot);
  EXPECT_TRUE(verdict.report);
  EXPECT_EQ(verdict.failures, 3);
  EXPECT_EQ(verdict.workers, 2);
  const auto again = clusters.Failed(kSlot, "429", At(4));
  EXPECT_FALSE(again.report || again.stop_slot);
}

TEST(FailureClusters, OldFailuresAreForgotten) {
  FailureClusters clusters(2, kWindowNs);
  (void)clusters.Failed(kOther, "x", At(0));
  (void)clusters.Failed(kSlot, "x", At(0));
  EXPECT_FALSE(clusters.Failed(kSlot, "x", At(200)).stop_slot) << "the first was too long ago";
  EXPECT_TRUE(clusters.Failed(kSlot, "x", At(201)).stop_slot) << "the other worker's too";
}

TEST(Backoff, GrowsToItsLimitAndIsSpreadOverHalfOfIt) {
  const Backoff backoff{1'000, 4, 10'000};
  const int64_t full[] = {1'000, 4'000, 10'000, 10'000};
  for (int failure = 1; failure <= 4; ++failure) {
    int64_t low = INT64_MAX, high = 0;
    for (int64_t id = 1; id <= 500; ++id) {
      const int64_t ns = BackoffNs(backoff, ExperimentId(id), failure);
      EXPECT_EQ(ns, BackoffNs(backoff, ExperimentId(id), failure)) << "a function of its input";
      low = std::min(low, ns);
      high = std::max(high, ns);
    }
    EXPECT_GE(low, full[failure - 1] / 2);
    EXPECT_LE(high, full[failure - 1]);
    EXPECT_LT(low, full[failure - 1] * 6 / 10);
    EXPECT_GT(high, full[failure - 1] * 9 / 10);
  }
}

}  // namespace
}  // namespace dynbench::scheduler
