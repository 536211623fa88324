// Method: a handful of models whose means are plain, with failures on either side, so that N and
// the names left out can be checked (a user's report: means over different sets).
#include "common/judge/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

using testing::ElementsAre;

const SummaryCell& Of(const std::vector<SummaryCell>& cells, Table table) {
  for (const SummaryCell& cell : cells) {
    if (cell.table == table) return cell;
  }
  ADD_FAILURE();
  return cells.front();
}

TEST(Summary, MeansAreOverModelsThatPassedOnBothSides) {
  const Side base{"b",
                  {Measured("a", 20, 10), Measured("b", 80, 10), Measured("c", 30, 10),
                   Checked("a", "pass"), Checked("b", "pass"), Checked("c", "pass")}};
  const Side fresh{
      "n", OnNewBuild({Measured("a", 40, 10), Measured("b", 40, 10), Measured("c", 900, 10),
                       Checked("a", "pass"), Checked("b", "pass"), Checked("c", "fail_accuracy")})};
  const Pairing pairing = PairUp(base, fresh);
  const auto cells = Summarize(pairing, false);
  const SummaryCell& pass = Of(cells, Table::kPassRate);
  EXPECT_EQ(pass.count, 3U);
  EXPECT_EQ(pass.base_passed, 3U);
  EXPECT_EQ(pass.fresh_passed, 2U);
  const SummaryCell& speedup = Of(cells, Table::kSpeedup);
  EXPECT_EQ(speedup.count, 2U);
  EXPECT_NEAR(*speedup.base, 4, 1e-9);  // of 2 and 8
  EXPECT_NEAR(*speedup.fresh, 4, 1e-9);
  EXPECT_NEAR(*speedup.ratio, 1, 1e-9);
  EXPECT_THAT(speedup.left_out, ElementsAre("c (accuracy failed in new)"));
  EXPECT_EQ(Of(cells, Table::kCompileSeconds).count, 0U) << "nobody measured it";
}

TEST(Summary, PassRateOfPerformanceWhereThereIsNoAccuracy) {
  Process crashed = Measured("b", 1, 1);
  crashed.row.result->outcome = plan::Outcome::kFailed;
  crashed.row.result->status = "crash";
  const Side base{"b", {Measured("a", 20, 10), Measured("b", 20, 10)}};
  const Side fresh{"n", {Measured("a", 20, 10), crashed}};
  const Pairing pairing = PairUp(base, fresh);
  const auto cells = Summarize(pairing, false);
  EXPECT_EQ(Of(cells, Table::kPassRate).fresh_passed, 1U);
  EXPECT_EQ(Of(cells, Table::kPassRate).count, 2U);
}

TEST(Summary, ByConfigurationAndSuiteAndWithoutIncomparableRows) {
  Process training = Measured("a", 30, 10);
  training.row.experiment.mode = plan::Mode::kTraining;
  Process other_kernel = Measured("b", 20, 10);
  other_kernel.host["kernel"] = "6.2";
  const Side base{"b", {Measured("a", 20, 10), training, Measured("b", 20, 10)}};
  const Side fresh{"n", {Measured("a", 20, 10), training, other_kernel}};
  const Pairing pairing = PairUp(base, fresh);
  const auto cells = Summarize(pairing, false);
  std::vector<std::string> labels;
  for (const SummaryCell& cell : cells) {
    if (cell.table == Table::kSpeedup) labels.push_back(cell.configuration);
  }
  EXPECT_THAT(labels, ElementsAre("default inference", "default training"));
  EXPECT_THAT(Of(cells, Table::kSpeedup).left_out, ElementsAre("b (incomparable)"));
  EXPECT_EQ(Of(Summarize(pairing, true), Table::kSpeedup).count, 2U);
}

}  // namespace
}  // namespace dynbench::judge
