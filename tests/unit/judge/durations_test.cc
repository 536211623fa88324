// Method: nights of rows with known times. What made one longer must be the models that were made
// longer here, by the phase in which they were, and nothing may be counted twice or left out.
#include "common/judge/durations.h"

#include <gtest/gtest.h>

#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Took `wall_s` in all, of which the compiler had `compile_s`.
store::ResultRow RowOf(const std::string& model, double wall_s, double compile_s) {
  store::ResultRow row = Measured(model, 20, 10).row;
  row.lease = LeaseEpoch(7);
  row.attempt = 1;
  row.started_at = {1'000'000};
  row.finished_at = {1'000'000 + static_cast<int64_t>(wall_s * 1000)};
  row.result->phases = {
      {plan::Phase::kLoad, kSecond, 0},
      {plan::Phase::kCompile, static_cast<int64_t>(compile_s * kSecond), kSecond / 2}};
  return row;
}

TimedRow Timed(const std::string& model, double wall_s, double compile_s) {
  return TimeOf(RowOf(model, wall_s, compile_s), {});
}

TEST(TimeOf, PartsAddUpToTheWallTime) {
  const TimedRow row = Timed("resnet18", 10, 6);
  EXPECT_DOUBLE_EQ(row.total_s, 10);
  const TimeParts parts = {{"load", 1}, {"compile", 6}, {"frozen", 0.5}, {"other", 2.5}};
  EXPECT_EQ(row.parts, parts);
}

TEST(TimeOf, EarlierAttemptsAreRetries) {
  const store::ResultRow row = RowOf("resnet18", 10, 6);
  store::AttemptRow first, last, waiting;
  first.id = {row.id, LeaseEpoch(5)};
  first.started_at = {100'000};
  first.finished_at = {130'000};
  last.id = {row.id, row.lease};
  last.started_at = {200'000};
  last.finished_at = {900'000};
  waiting.id = {row.id, LeaseEpoch(6)};
  waiting.finished_at = {180'000};  // given back before it began
  const TimedRow timed = TimeOf(row, {first, waiting, last});
  EXPECT_DOUBLE_EQ(timed.total_s, 40);
  EXPECT_DOUBLE_EQ(timed.parts.at("retries"), 30);
}

TEST(TimeOf, ARowThatNeverRanTookNoTime) {
  store::ResultRow row = RowOf("resnet18", 10, 6);
  row.result.reset();
  EXPECT_EQ(TimeOf(row, {}).total_s, 0);
}

// The report: two runs, one model twice as long with the same latency.
TEST(CompareNights, NamesTheModelThatGrew) {
  const Night base = {Timed("resnet18", 100, 60), Timed("ghostnet_100", 50, 30),
                      Timed("deit_tiny", 80, 40)};
  const Night fresh = {Timed("resnet18", 200, 160), Timed("ghostnet_100", 51, 31),
                       Timed("deit_tiny", 79, 39)};
  const Durations d = CompareNights({base}, fresh);
  EXPECT_DOUBLE_EQ(d.base_s, 230);
  EXPECT_DOUBLE_EQ(d.fresh_s, 330);
  EXPECT_DOUBLE_EQ(d.common_s, 100);
  EXPECT_DOUBLE_EQ(d.grown_s, 101);
  EXPECT_DOUBLE_EQ(d.shrunk_s, -1);
  ASSERT_EQ(d.models.size(), 3U);
  ASSERT_EQ(d.explaining, 1U);
  EXPECT_EQ(d.models[0].model, "timm/resnet18");
  EXPECT_DOUBLE_EQ(d.models[0].change_s(), 100);
  EXPECT_DOUBLE_EQ(d.models[0].change.at("compile"), 100);
  EXPECT_DOUBLE_EQ(d.models[0].change.at("other"), 0);
}

TEST(CompareNights, AsManyModelsAsExplainFourFifths) {
  const Night base = {Timed("a", 10, 1), Timed("b", 10, 1), Timed("c", 10, 1), Timed("d", 10, 1)};
  const Night fresh = {Timed("a", 60, 1), Timed("b", 34, 1), Timed("c", 30, 1), Timed("d", 16, 1)};
  const Durations d = CompareNights({base}, fresh);  // +50, +24, +20, +6: 80 of 100 after three
  EXPECT_EQ(d.explaining, 3U);
  EXPECT_EQ(d.models[1].model, "timm/b");
}

TEST(CompareNights, AShorterNightNamesWhatShrank) {
  const Durations d = CompareNights({{Timed("a", 50, 1), Timed("b", 50, 1)}},
                                    {Timed("a", 20, 1), Timed("b", 55, 1)});
  ASSERT_EQ(d.explaining, 1U);
  EXPECT_EQ(d.models[0].model, "timm/a");
  EXPECT_DOUBLE_EQ(d.models[0].change_s(), -30);
}

TEST(CompareNights, AddedAndRemovedStandApart) {
  const Durations d = CompareNights({{Timed("old", 50, 1), Timed("both", 10, 1)}},
                                    {Timed("new", 70, 1), Timed("both", 10, 1)});
  EXPECT_DOUBLE_EQ(d.common_s, 0);
  EXPECT_EQ(d.explaining, 0U);
  ASSERT_EQ(d.added.size(), 1U);
  EXPECT_DOUBLE_EQ(d.added_s, 70);
  EXPECT_NE(d.added[0].name.find("timm/new"), std::string::npos);
  ASSERT_EQ(d.removed.size(), 1U);
  EXPECT_DOUBLE_EQ(d.removed_s, 50);
  EXPECT_DOUBLE_EQ(d.fresh_s - d.base_s, d.common_s + d.added_s - d.removed_s);
}

// One bad night among several bases does not count.
TEST(CompareNights, TheMiddleOfSeveralBaseNights) {
  const Durations d = CompareNights(
      {{Timed("a", 10, 1)}, {Timed("a", 500, 1)}, {Timed("a", 12, 1)}}, {Timed("a", 20, 1)});
  EXPECT_DOUBLE_EQ(d.base_s, 12);
  EXPECT_DOUBLE_EQ(d.common_s, 8);
}

// Rounds of a pair are one series.
TEST(CompareNights, RoundsAreSummed) {
  TimedRow first = Timed("a", 10, 1), second = Timed("a", 11, 1);
  first.experiment.pair = second.experiment.pair = 1;
  first.experiment.round = 1;
  second.experiment.round = 2;
  const Durations d = CompareNights({{Timed("a", 10, 1)}}, {first, second});
  ASSERT_EQ(d.models.size(), 1U);
  EXPECT_DOUBLE_EQ(d.models[0].fresh_s, 21);
  EXPECT_EQ(d.models[0].experiments.size(), 1U);
}

}  // namespace
}  // namespace dynbench::judge
