// Method: results on time, twice, late and after a verdict; each time the row and the counts that a
// user sees.
#include "common/plan/metric_fields.h"
#include "common/store/result_row.h"
#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;
using WritesResultTest = StoreTest;

TEST_F(WritesResultTest, EveryFieldComesBack) {
  const auto job = Submit(MakeJob({"a"}));
  ASSERT_OK(Lease(1, job.experiments));
  plan::Result sent = MakeResult();
  double next = 0.5;
  plan::ForEachMetric(sent.metrics, [&](const char*, auto& field) { field = next += 1; });
  EXPECT_EQ(*Record(job.experiments[0], 1, sent, std::string("log\0\xff", 5)),
            Acceptance::kCounted);
  const ResultRow row = *GetExperiment(*db_, job.experiments[0]);
  ASSERT_TRUE(row.result.has_value());
  EXPECT_EQ(*row.result, sent);
  EXPECT_EQ(row.state, "done");
  EXPECT_EQ(row.attempt, 1);
  EXPECT_EQ(row.worker.value, "w");
  EXPECT_EQ(row.lease, LeaseEpoch(1));
  EXPECT_EQ(row.started_at.ms, 3'000);
  EXPECT_EQ(row.finished_at.ms, 7'000);
  EXPECT_EQ(*GetLog(*db_, job.experiments[0]), std::string("log\0\xff", 5));
}

TEST_F(WritesResultTest, UnsetMetricsStayUnsetAndZeroStaysZero) {
  const auto job = Submit(MakeJob({"a"}));
  ASSERT_OK(Lease(1, job.experiments));
  ASSERT_TRUE(Record(job.experiments[0], 1).ok());
  const auto row = *GetExperiment(*db_, job.experiments[0]);
  EXPECT_EQ(row.result->metrics, MakeResult().metrics);
  EXPECT_EQ(Number("SELECT abs_latency_ms = 0 AND eager_latency_ms IS NULL FROM v_results"), 1);
}

TEST_F(WritesResultTest, TheSchemaHasAColumnForEveryMetricOfItsKind) {
  plan::Metrics metrics;
  plan::ForEachMetric(metrics, [&](const char* name, const auto& field) {
    using Value = typename std::remove_reference_t<decltype(field)>::value_type;
    Statement s(*db_, "SELECT type FROM pragma_table_info('result') WHERE name = ?");
    s.Bind(std::string(name));
    ASSERT_TRUE(*s.Step()) << "result has no column " << name;
    EXPECT_EQ(s.Text(0), std::is_integral_v<Value> ? "INTEGER" : "REAL") << name;
    EXPECT_OK(Execute(db_->handle(), std::string("SELECT ") + name + " FROM v_results"));
  });
}

TEST_F(WritesResultTest, ARepeatedResultChangesNothing) {
  const auto job = Submit(MakeJob({"a"}));
  ASSERT_OK(Lease(1, job.experiments));
  EXPECT_EQ(*Record(job.experiments[0], 1), Acceptance::kCounted);
  plan::Result other = MakeResult();
  other.outcome = plan::Outcome::kFailed;
  EXPECT_EQ(*Record(job.experiments[0], 1, other, "log"), Acceptance::kDuplicate);
  EXPECT_EQ(GetExperiment(*db_, job.experiments[0])->result->outcome, plan::Outcome::kPassed);
  EXPECT_EQ(CoverageOf(job.job).passed, 1);
  EXPECT_EQ(CoverageOf(job.job).failed, 0);
  EXPECT_EQ(*GetLog(*db_, job.experiments[0]), "");
}

TEST_F(WritesResultTest, ALateResultIsKeptAsEvidenceAndDoesNotCount) {
  const auto job = Submit(MakeJob({"a"}));
  const ExperimentId e = job.experiments[0];
  ASSERT_OK(Lease(1, {e}));
  ASSERT_OK(Write([&] { return Requeue(*db_, e, LeaseEpoch(1), "expired", {1}); }));
  EXPECT_EQ(*Record(e, 1), Acceptance::kSuperseded);
  EXPECT_EQ(CoverageOf(job.job).waiting, 1);
  EXPECT_EQ(*Record(e, 1), Acceptance::kDuplicate);
  ASSERT_OK(Lease(2, {e}, 1));
  EXPECT_EQ(*Record(e, 2), Acceptance::kCounted);
  EXPECT_EQ(CoverageOf(job.job).passed, 1);
  EXPECT_EQ(ListAttempts(*db_, e)->at(0).state, "superseded");
  Statement evidence(*db_, "SELECT evidence FROM attempt WHERE lease = 1");
  ASSERT_TRUE(*evidence.Step());
  EXPECT_THAT(evidence.Text(0), HasSubstr("\"speedup\":1.25"));
}

TEST_F(WritesResultTest, AResultOfAnAttemptThatNeverWasIsAnError) {
  const auto job = Submit(MakeJob({"a"}));
  EXPECT_TRUE(absl::IsNotFound(Record(job.experiments[0], 1).status()));
  ASSERT_OK(Lease(1, {}));
  EXPECT_TRUE(absl::IsNotFound(Record(job.experiments[0], 1).status()));
}

TEST_F(WritesResultTest, AVerdictStandsAgainstALateResult) {
  const auto job = Submit(MakeJob({"a"}));
  const ExperimentId e = job.experiments[0];
  ASSERT_OK(Lease(1, {e}));
  ASSERT_OK(Write([&] { return RecordStarted(*db_, {e, LeaseEpoch(1)}, {1}); }));
  const auto conclude = [&] {
    return Conclude(*db_, e, plan::Outcome::kFailed, "crash", plan::Blame::kModel,
                    "its worker died twice", {9});
  };
  ASSERT_OK(Write(conclude));
  EXPECT_TRUE(absl::IsAlreadyExists(Write(conclude)));
  EXPECT_EQ(*Record(e, 1), Acceptance::kSuperseded);
  const ResultRow row = *GetExperiment(*db_, e);
  EXPECT_EQ(row.result->status, "crash");
  EXPECT_EQ(row.result->error, "its worker died twice");
  EXPECT_EQ(row.result->blame, plan::Blame::kModel);
  const Coverage coverage = CoverageOf(job.job);
  EXPECT_EQ(coverage.failed, 1);
  EXPECT_EQ(coverage.running, 0);
  EXPECT_EQ(GetJob(*db_, job.job)->state, "finished");
}

TEST_F(WritesResultTest, TheLogOfTheLastAttemptIsShownWhenNoWorkerBroughtTheResult) {
  const auto job = Submit(MakeJob({"a"}));
  const ExperimentId e = job.experiments[0];
  ASSERT_OK(Lease(1, {e}));
  ASSERT_OK(Write([&] { return Requeue(*db_, e, LeaseEpoch(1), "expired", {1}); }));
  ASSERT_TRUE(Record(e, 1, MakeResult(), "last words").ok());
  ASSERT_OK(Write([&] {
    return Conclude(*db_, e, plan::Outcome::kLost, "lost", plan::Blame::kInfrastructure, "x", {9});
  }));
  EXPECT_EQ(*GetLog(*db_, e), "last words");
}

TEST_F(WritesResultTest, CountsAlwaysAddUpToThePlanned) {
  const auto job = Submit(MakeJob({"a", "b", "c", "d"}));
  ASSERT_OK(Lease(1, job.experiments));
  ASSERT_OK(Write([&] { return RecordStarted(*db_, {job.experiments[3], LeaseEpoch(1)}, {1}); }));
  plan::Result failed = MakeResult();
  failed.outcome = plan::Outcome::kFailed;
  ASSERT_TRUE(Record(job.experiments[0], 1).ok());
  ASSERT_TRUE(Record(job.experiments[1], 1, failed).ok());
  EXPECT_EQ(Number("SELECT count(*) FROM v_coverage WHERE planned = 4 AND passed = 1 AND"
                   " failed = 1 AND waiting = 1 AND running = 1 AND planned = passed + failed +"
                   " skipped + lost + cancelled + waiting + running"),
            1);
  // The counters are what a count of the rows gives.
  EXPECT_EQ(Number("SELECT count(*) FROM v_results WHERE outcome = 'passed'"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM v_results WHERE state = 'running'"), 1);
}

TEST_F(WritesResultTest, TheRowNamesWhatItWasMeasuredOn) {
  const auto job = Submit(MakeJob({"a"}));
  ASSERT_OK(Lease(1, job.experiments));
  ASSERT_TRUE(Record(job.experiments[0], 1).ok());
  EXPECT_EQ(Number("SELECT count(*) FROM v_results r JOIN fingerprint f ON f.hash = r.fingerprint"
                   " WHERE r.environment_hash = 'abc' AND r.torch_version = '2.14.1'"
                   " AND f.inventory = '{\"cores\":2}'"),
            1);
}

TEST_F(WritesResultTest, PerformanceAndAccuracyOfAModelAreOneRowOfTheJoin) {
  NewJob job = MakeJob({"a", "b"});
  job.plan.experiments.push_back(MakeExperiment("a", plan::Test::kAccuracy));
  const auto inserted = Submit(job);
  ASSERT_OK(Lease(1, inserted.experiments));
  plan::Result accuracy = MakeResult();
  accuracy.status = "pass";
  ASSERT_TRUE(Record(inserted.experiments[0], 1).ok());
  ASSERT_TRUE(Record(inserted.experiments[2], 1, accuracy).ok());
  EXPECT_EQ(Number("SELECT count(*) FROM v_join"), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM v_join WHERE model = 'a' AND speedup = 1.25"
                   " AND accuracy = 'pass'"),
            1);
  EXPECT_EQ(Number("SELECT count(*) FROM v_history"), 2);
}

}  // namespace
}  // namespace dynbench::store
