// Method: tell durations of phases and ask for limits: which history decides, how much is enough,
// and what is never limited.
#include "coordinator/session/phase_history.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kTimeoutMs = 1'800'000;

PredictionKeys KeysOf(const std::string& series, const std::string& model = "m") {
  return {"series:" + series, "model:" + model, "suite:s"};
}
std::vector<plan::PhaseSpan> Spans(plan::Phase phase, double seconds) {
  return {{phase, static_cast<int64_t>(seconds * 1e9), 0}};
}
int64_t LimitMs(const std::vector<LearnedLimit>& limits, plan::Phase phase) {
  for (const LearnedLimit& limit : limits) {
    if (limit.phase == phase) return limit.limit_ms;
  }
  return 0;
}

TEST(PhaseHistoryTest, TheSeriesDecidesOnceItHasEnoughRuns) {
  PhaseHistory history;
  for (size_t i = 1; i < PhaseHistory::kEnoughOfSeries; ++i) {
    history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 30));
  }
  EXPECT_TRUE(history.LimitsFor(KeysOf("a"), kTimeoutMs).empty()) << "too few to say anything";
  history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 40));
  const auto limits = history.LimitsFor(KeysOf("a"), kTimeoutMs);
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits[0].phase, plan::Phase::kCompile);
  EXPECT_EQ(limits[0].limit_ms, 160'000);
  EXPECT_EQ(limits[0].origin, "4 times the longest of 5 runs of the series (40.0 s)");
}

TEST(PhaseHistoryTest, ThenTheModelThenTheSuiteWithItsHigherFloor) {
  PhaseHistory history;
  for (int i = 0; i < 60; ++i) {
    history.Observe(KeysOf("of_x", "x"), Spans(plan::Phase::kLoad, 1));
  }
  const auto fresh = history.LimitsFor(KeysOf("b", "fresh"), kTimeoutMs);
  EXPECT_EQ(LimitMs(fresh, plan::Phase::kLoad), PhaseHistory::kSuiteFloorMs);
  EXPECT_THAT(fresh.at(0).origin, HasSubstr("of 60 runs of the suite"));
  const auto other = history.LimitsFor(KeysOf("b", "x"), kTimeoutMs);
  EXPECT_EQ(LimitMs(other, plan::Phase::kLoad), PhaseHistory::kFloorMs);
  EXPECT_THAT(other.at(0).origin, HasSubstr("of 15 runs of the model (1.0 s) is less"));
}

TEST(PhaseHistoryTest, NeverAboveTheExperimentsOwnTimeout) {
  PhaseHistory history;
  for (int i = 0; i < 5; ++i) history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 40));
  EXPECT_TRUE(history.LimitsFor(KeysOf("a"), 160'000).empty());
  EXPECT_EQ(history.LimitsFor(KeysOf("a"), 160'001).size(), 1u);
}

TEST(PhaseHistoryTest, WhatOthersMakeLongIsNotLimited) {
  PhaseHistory history;
  for (int i = 0; i < 100; ++i) {
    history.Observe(KeysOf("a"), {{plan::Phase::kPrepare, 1, 0}, {plan::Phase::kReady, 1, 0}});
  }
  EXPECT_TRUE(history.LimitsFor(KeysOf("a"), kTimeoutMs).empty());
}

TEST(PhaseHistoryTest, ASeriesThatHungLastHasNoneUntilItPasses) {
  PhaseHistory history;
  for (int i = 0; i < 5; ++i) history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 40));
  history.TimedOut(KeysOf("a"));
  EXPECT_TRUE(history.LimitsFor(KeysOf("a"), kTimeoutMs).empty());
  history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 40));
  EXPECT_EQ(history.LimitsFor(KeysOf("a"), kTimeoutMs).size(), 1u);
}

TEST(PhaseHistoryTest, ALimitThatWasAskedForFollowsLaterRuns) {
  PhaseHistory history;
  for (int i = 0; i < 5; ++i) history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 40));
  EXPECT_EQ(LimitMs(history.LimitsFor(KeysOf("a"), kTimeoutMs), plan::Phase::kCompile), 160'000);
  history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 50));
  EXPECT_GT(LimitMs(history.LimitsFor(KeysOf("a"), kTimeoutMs), plan::Phase::kCompile), 199'000);
}

TEST(PhaseHistoryTest, TheNewestRunsCount) {
  PhaseHistory history;
  history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 400));
  for (int i = 0; i < 15; ++i) history.Observe(KeysOf("a"), Spans(plan::Phase::kCompile, 20));
  EXPECT_EQ(LimitMs(history.LimitsFor(KeysOf("a"), kTimeoutMs), plan::Phase::kCompile), 80'000);
}

}  // namespace
}  // namespace dynbench::session
