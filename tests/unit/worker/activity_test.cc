// Method: changes at chosen times; what is told must give every activity the time that it had, in
// order where there are few changes and as sums where there are thousands.
#include "worker/agent/activity.h"

#include <map>

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

std::map<Activity, int64_t> Sums(const std::vector<ActivityChange>& told, int64_t end_ms) {
  std::map<Activity, int64_t> sums;
  for (size_t i = 0; i < told.size(); ++i) {
    sums[told[i].activity] +=
        (i + 1 < told.size() ? told[i + 1].since_ms : end_ms) - told[i].since_ms;
  }
  return sums;
}

TEST(ActivityLogTest, FewChangesAreToldInOrder) {
  ActivityLog log(100);
  log.Set(Activity::kPreparing, 200);
  log.Set(Activity::kPreparing, 250);
  log.Set(Activity::kMeasuring, 300);
  const auto told = log.Take();
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].activity, Activity::kIdle);
  EXPECT_EQ(told[1].since_ms, 200);
  EXPECT_EQ(told[2].activity, Activity::kMeasuring);
  EXPECT_FALSE(log.changed());
  log.Set(Activity::kIdle, 400);
  EXPECT_TRUE(log.changed());
  ASSERT_EQ(log.Take().size(), 1u);
}

TEST(ActivityLogTest, ANewSessionHearsWhatGoesOnSinceWhen) {
  ActivityLog log(100);
  log.Set(Activity::kMeasuring, 300);
  log.Take();
  log.Again();
  EXPECT_TRUE(log.changed());
  const auto told = log.Take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].since_ms, 300);
}

TEST(ActivityLogTest, ThousandsOfChangesKeepTheirSums) {
  ActivityLog log(0);
  log.Take();
  int64_t now_ms = 0;
  for (int i = 0; i < 5'000; ++i) {
    log.Set(Activity::kPreparing, now_ms += 1);
    log.Set(Activity::kCompiling, now_ms += 2);
    log.Set(Activity::kIdle, now_ms += 3);
  }
  log.Again();
  const auto told = log.Take();
  EXPECT_LE(told.size(), 8u);
  const auto sums = Sums(told, now_ms);
  EXPECT_EQ(sums.at(Activity::kPreparing), 2 * 5'000);
  EXPECT_EQ(sums.at(Activity::kCompiling), 3 * 5'000);
  EXPECT_EQ(sums.at(Activity::kIdle), 1 * 5'000);
}

TEST(ActivityLogTest, AClockThatIsSetBackMakesNoNegativeTime) {
  ActivityLog log(1'000);
  log.Set(Activity::kCompiling, 2'000);
  log.Set(Activity::kIdle, 500);
  for (const auto& [activity, ms] : Sums(log.Take(), 2'000)) EXPECT_GE(ms, 0);
}

}  // namespace
}  // namespace dynbench::worker
