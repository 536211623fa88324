// Method: a job in which everything happens; its table made of these rows is, byte for byte, the
// one that whole rows make. Which metrics the table shows is not said again here.
#include "common/store/table_rows.h"

#include <tuple>

#include "common/formats/results_table.h"
#include "common/plan/metric_fields.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
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

// Each row is read into the one before it: nothing of that may be left.
TEST_F(TableRowsTest, VisitedResultsAreThoseThatAreListed) {
  const auto job = Submit(MakeJob({"a", "b", "c", "d", "e"}));
  ASSERT_OK(Lease(1, {job.experiments[0], job.experiments[2], job.experiments[4]}));
  plan::Result result = MakeResult();
  plan::ForEachMetric(result.metrics, [](const char*, auto& field) { field = 3; });
  for (const size_t i : {size_t{0}, size_t{4}}) {
    ASSERT_TRUE(Record(job.experiments[i], 1, result).ok());
  }
  const auto all = *RangeOf(*db_, job.job);
  EXPECT_EQ(all.first, job.experiments.front());
  EXPECT_EQ(all.last, job.experiments.back());
  for (const RowDetail detail : {RowDetail::kWhole, RowDetail::kPlanAsText}) {
    std::vector<ResultRow> visited;
    EXPECT_OK(VisitResults(*db_, job.job, all, detail, [&](const ResultRow& row) {
      visited.push_back(row);
      return absl::OkStatus();
    }));
    const auto listed = *ListResults(*db_, job.job, ExperimentId(), 0, false, detail);
    ASSERT_EQ(visited.size(), listed.size());
    for (size_t i = 0; i < listed.size(); ++i) {
      const ResultRow& a = visited[i];
      const ResultRow& b = listed[i];
      EXPECT_EQ(a.id, job.experiments[i]);
      EXPECT_EQ(a.series, plan::SeriesKey(*plan::ExperimentFromJson(a.plan)));
      EXPECT_EQ(std::tie(a.id, a.job, a.plan, a.series, a.state, a.attempt, a.worker, a.lease),
                std::tie(b.id, b.job, b.plan, b.series, b.state, b.attempt, b.worker, b.lease));
      EXPECT_EQ(plan::ToJson(a.experiment), plan::ToJson(b.experiment));
      EXPECT_EQ(a.started_at.ms, b.started_at.ms);
      EXPECT_EQ(a.finished_at.ms, b.finished_at.ms);
      ASSERT_EQ(a.result.has_value(), i == 0 || i == 4);
      if (a.result) {
        EXPECT_EQ(plan::MetricsToJson(a.result->metrics), plan::MetricsToJson(b.result->metrics));
      }
    }
  }
}

TEST_F(TableRowsTest, ResultsAreVisitedWithinTheirRangeOrUntilAnError) {
  const auto job = Submit(MakeJob({"a", "b", "c", "d", "e"}));
  int seen = 0;
  const auto count = [&seen](const ResultRow&) {
    ++seen;
    return absl::OkStatus();
  };
  const ExperimentRange range = {job.experiments[1], job.experiments[3]};
  EXPECT_OK(VisitResults(*db_, job.job, range, RowDetail::kPlanAsText, count));
  EXPECT_EQ(seen, 3);
  EXPECT_FALSE(RangeOf(*db_, JobId(9))->last);
  EXPECT_OK(VisitResults(*db_, JobId(9), range, RowDetail::kPlanAsText, count));
  EXPECT_EQ(seen, 3);
  const auto stop = [](const ResultRow&) { return absl::AbortedError("enough"); };
  EXPECT_EQ(VisitResults(*db_, job.job, range, RowDetail::kPlanAsText, stop),
            absl::AbortedError("enough"));
}

}  // namespace
}  // namespace dynbench::store
