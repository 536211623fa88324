// Method: a job in which everything happens; its table made of these rows is, byte for byte, the
// one that whole rows make. Which metrics the table shows is not said again here.
#include "common/store/table_rows.h"

#include "common/formats/results_table.h"
#include "common/plan/metric_fields.h"
#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;
using TableRowsTest = StoreTest;

std::string TableOf(Database& db, JobId job) {
  formats::ResultsPage page;
  EXPECT_OK(ForEachTableRow(db, job, ExperimentId(), 0, [&](const ResultRow& row) {
    ResultRow whole = row;
    whole.experiment = *plan::ExperimentFromJson(row.plan);
    page.Add(whole);
    return absl::OkStatus();
  }));
  return page.Take(*GetJob(db, job), {});
}

TEST_F(TableRowsTest, MakeTheTableThatWholeRowsMake) {
  NewJob planned = MakeJob({"a", "b", "c", "d"});
  for (const auto test : {plan::Test::kAccuracy, plan::Test::kTolerance, plan::Test::kBatchSize}) {
    planned.plan.experiments.push_back(MakeExperiment("a", test));
  }
  const auto job = Submit(planned);
  ASSERT_OK(Lease(1, job.experiments));
  plan::Result result = MakeResult();
  double next = 0.25;
  plan::ForEachMetric(result.metrics, [&](const char*, auto& field) { field = next += 1.25; });
  ASSERT_TRUE(Record(job.experiments[0], 1, result).ok());
  plan::Result failed = MakeResult();
  failed.outcome = plan::Outcome::kFailed;
  failed.status = "fail_to_run";
  failed.blame = plan::Blame::kCompiler;
  failed.error = "KeyError: 'x'";
  ASSERT_TRUE(Record(job.experiments[1], 1, failed).ok());
  for (size_t i = 4; i < 7; ++i) ASSERT_TRUE(Record(job.experiments[i], 1, result).ok());
  const auto rows = *ListResults(*db_, job.job, ExperimentId(), 0, false);
  const std::string table = TableOf(*db_, job.job);
  EXPECT_EQ(table, formats::ResultsTable(*GetJob(*db_, job.job), rows, {}));
  EXPECT_THAT(table, HasSubstr("KeyError"));
  EXPECT_THAT(table, HasSubstr("guard miss"));
}

TEST_F(TableRowsTest, BeginAfterARowAndEndAtTheLimitOrAtAnError) {
  const auto job = Submit(MakeJob({"a", "b", "c", "d"}));
  std::vector<ExperimentId> seen;
  const auto visit = [&](const ResultRow& row) {
    seen.push_back(row.id);
    return absl::OkStatus();
  };
  EXPECT_OK(ForEachTableRow(*db_, job.job, job.experiments[0], 2, visit));
  EXPECT_EQ(seen, (std::vector<ExperimentId>{job.experiments[1], job.experiments[2]}));
  EXPECT_OK(ForEachTableRow(*db_, JobId(9), ExperimentId(), 0, visit));
  EXPECT_EQ(seen.size(), 2u);
  const auto stop = [](const ResultRow&) { return absl::AbortedError("enough"); };
  EXPECT_EQ(ForEachTableRow(*db_, job.job, ExperimentId(), 0, stop), absl::AbortedError("enough"));
}

}  // namespace
}  // namespace dynbench::store
