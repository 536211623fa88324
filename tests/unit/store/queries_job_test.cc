// Method: small jobs in memory; what is walked row by row is compared with what is listed.
#include <tuple>

#include "common/plan/metric_fields.h"
#include "common/store/queries.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using QueriesJobTest = StoreTest;

// Each row is read into the one before it: nothing of that may be left.
TEST_F(QueriesJobTest, VisitedResultsAreThoseThatAreListed) {
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
  std::vector<ResultRow> visited;
  EXPECT_OK(VisitResults(*db_, job.job, all, [&](const ResultRow& row) {
    visited.push_back(row);
    return absl::OkStatus();
  }));
  const auto listed = *ListResults(*db_, job.job, ExperimentId(), 0, false, RowDetail::kPlanAsText);
  ASSERT_EQ(visited.size(), listed.size());
  const auto facts = [](const ResultRow& row) {
    return std::tie(row.id, row.job, row.plan, row.series, row.state, row.attempt, row.worker,
                    row.worker_host, row.lease, row.slot, row.started_at.ms, row.finished_at.ms);
  };
  for (size_t i = 0; i < listed.size(); ++i) {
    EXPECT_EQ(visited[i].id, job.experiments[i]);
    EXPECT_EQ(visited[i].series, plan::SeriesKey(*plan::ExperimentFromJson(visited[i].plan)));
    EXPECT_EQ(facts(visited[i]), facts(listed[i]));
    ASSERT_EQ(visited[i].result.has_value(), i == 0 || i == 4);
    if (!visited[i].result) continue;
    EXPECT_EQ(plan::MetricsToJson(visited[i].result->metrics),
              plan::MetricsToJson(listed[i].result->metrics));
  }
}

TEST_F(QueriesJobTest, ResultsAreVisitedWithinTheirRangeOrUntilAnError) {
  const auto job = Submit(MakeJob({"a", "b", "c", "d", "e"}));
  int seen = 0;
  const auto count = [&seen](const ResultRow&) {
    ++seen;
    return absl::OkStatus();
  };
  const ExperimentRange range = {job.experiments[1], job.experiments[3]};
  EXPECT_OK(VisitResults(*db_, job.job, range, count));
  EXPECT_EQ(seen, 3);
  EXPECT_FALSE(RangeOf(*db_, JobId(9))->last);
  EXPECT_OK(VisitResults(*db_, JobId(9), range, count));
  EXPECT_EQ(seen, 3);
  const auto stop = [](const ResultRow&) { return absl::AbortedError("enough"); };
  EXPECT_EQ(VisitResults(*db_, job.job, range, stop), absl::AbortedError("enough"));
}

}  // namespace
}  // namespace dynbench::store
