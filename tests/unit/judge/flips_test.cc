// Method: nights with written outcomes, '+' and 'x' by hand, against the count that docs/
// statistics.md promises; and comparisons of which the status turns, with and without such a past.
#include "common/judge/flips.h"

#include <gtest/gtest.h>

#include <memory>

#include "common/judge/compare.h"
#include "common/judge/history.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

// The accuracy of "m" in one night after the other, experiments 1, 2, …; lives with its rows.
store::History Past(const std::string& outcomes, const std::string& failure) {
  store::History history;
  history.inventories["f"] = R"({"cpu_model":"EPYC","host":"a"})";
  for (const char outcome : outcomes) {
    store::ResultRow row = Checked("m", outcome == '+' ? "pass" : failure).row;
    row.id = ExperimentId(static_cast<int64_t>(history.rows.size()) + 1);
    history.rows.push_back({row, "f", "e"});
  }
  return history;
}

Steadiness Count(const std::string& outcomes) {
  const store::History history = Past(outcomes, "eager_two_runs_differ");
  std::vector<const store::HistoryRow*> rows;
  for (const auto& row : history.rows) rows.push_back(&row);
  return SteadinessOf(rows);
}

TEST(Steadiness, CountsLeavingAndComingBack) {
  const struct {
    const char* outcomes;
    const char* text;
    bool unsteady;
  } cases[] = {
      {"+x+x+x+x+x", "flips 5/10", true},  // the report
      {"x+x+x+x+x+", "flips 5/10", true},
      {"++++++++++", "flips 0/10", false},
      {"xxxxxxxxxx", "flips 0/10", false},
      {"+++++xxxxx", "flips 1/10", false},  // a regression that stays
      {"+++++++++x", "flips 1/10", false},
      {"++++x+++++", "flips 1/10", false},  // one bad night
      {"+++xxxx+++", "flips 1/10", false},  // broken, then mended
      {"++x++++x++", "flips 2/10", true},
      {"++x++++++x", "flips 2/10", true},
      {"x", "flips 0/1", false},
      {"", "flips 0/0", false},
      {"x+x+x+++++++++++", "flips 0/10", false},  // long ago
  };
  for (const auto& c : cases) {
    const Steadiness steadiness = Count(c.outcomes);
    EXPECT_EQ(steadiness.Text(), c.text) << c.outcomes;
    EXPECT_EQ(steadiness.unsteady(), c.unsteady) << c.outcomes;
  }
}

TEST(Steadiness, OnlyWrongResultsMayBeChance) {
  for (const char* word : {"fail_accuracy", "eager_two_runs_differ", "eager_variation",
                           "not_bitwise_equivalent", "fail_batch_invariance_at_4"}) {
    EXPECT_TRUE(MayBeChance(word)) << word;
  }
  for (const char* word : {"crash", "timeout", "OOM", "fail_to_run", "eager_1st_run_fail", ""}) {
    EXPECT_FALSE(MayBeChance(word)) << word;
  }
}

// Base passed, new ended with `status`, and before both there were `outcomes`.
struct Compared {
  Side base, fresh;
  store::History history;
  Comparison comparison;
};

std::unique_ptr<Compared> CompareAfter(const std::string& outcomes, const std::string& failure,
                                       const std::string& status) {
  auto c = std::make_unique<Compared>();
  c->history = Past(outcomes, failure);
  c->base.processes = {Checked("m", "pass")};
  c->fresh.processes = OnNewBuild({Checked("m", status)});
  for (Side* side : {&c->base, &c->fresh}) {
    store::ResultRow& row = side->processes.front().row;
    row.id = ExperimentId(static_cast<int64_t>(c->history.rows.size()) + 1);
    c->history.rows.push_back({row, "f", "e"});
  }
  c->comparison = Compare(c->base, c->fresh, {}, {});
  WeighHistory(GroupHistory(c->history), &c->comparison);
  return c;
}

const Judgement& StatusOf(const Compared& c) {
  for (const Judgement& j : c.comparison.judgements) {
    if (j.metric == Metric::kStatus) return j;
  }
  ADD_FAILURE() << "no status";
  return c.comparison.judgements.front();
}

TEST(WeighHistory, AModelThatFlipsIsUnsteadyAndNotRed) {
  const auto c = CompareAfter("+x+x+x+x", "eager_two_runs_differ", "eager_two_runs_differ");
  const Judgement& j = StatusOf(*c);
  EXPECT_EQ(j.verdict, Verdict::kUnknown);
  EXPECT_TRUE(j.unsteady);
  EXPECT_NE(j.reason.find("flips 5/10"), std::string::npos) << j.reason;
  EXPECT_EQ(c->comparison.gate, Gate::kHolds) << c->comparison.gate_reason;
  EXPECT_NE(c->comparison.gate_reason.find("timm/m"), std::string::npos)
      << c->comparison.gate_reason;
  ASSERT_EQ(c->comparison.findings.size(), 1U) << "it is still shown";
  EXPECT_EQ(c->comparison.findings[0].level, Level::kNotice);
}

TEST(WeighHistory, ASteadyModelStaysRed) {
  for (const char* outcomes : {"++++++++", "++++x+++", "", "xxx++"}) {
    const auto c = CompareAfter(outcomes, "fail_accuracy", "fail_accuracy");
    EXPECT_EQ(StatusOf(*c).verdict, Verdict::kRegressed) << outcomes;
    EXPECT_EQ(c->comparison.gate, Gate::kRegression) << outcomes;
  }
  const auto c = CompareAfter("++++x+++", "fail_accuracy", "fail_accuracy");
  EXPECT_NE(StatusOf(*c).reason.find("flips 2/10"), std::string::npos) << StatusOf(*c).reason;
}

// What flips by one word is no excuse for another, nor for a crash.
TEST(WeighHistory, OnlyWhatFlippedBeforeIsForgiven) {
  EXPECT_EQ(StatusOf(*CompareAfter("+x+x+x+x", "eager_two_runs_differ", "fail_accuracy")).verdict,
            Verdict::kRegressed);
  EXPECT_EQ(StatusOf(*CompareAfter("+x+x+x+x", "crash", "crash")).verdict, Verdict::kRegressed);
}

// Another device's nights say nothing of this one's.
TEST(WeighHistory, NightsOfAnotherDeviceDoNotCount) {
  auto c = CompareAfter("+x+x+x+x", "fail_accuracy", "fail_accuracy");
  c->history.inventories["f"] = R"({"cpu_model":"Xeon","host":"a"})";
  c->comparison = Compare(c->base, c->fresh, {}, {});
  WeighHistory(GroupHistory(c->history), &c->comparison);
  EXPECT_EQ(StatusOf(*c).verdict, Verdict::kRegressed);
}

}  // namespace
}  // namespace dynbench::judge
