// Method: results of known duration; workers that say hello twice.
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using QueriesFleetTest = StoreTest;

TEST_F(QueriesFleetTest, DurationsAreThoseOfWhatPassedOldestFirstWithTheirWorker) {
  const auto job = Submit(MakeJob({"a", "a", "a", "b"}));
  ASSERT_OK(Lease(1, job.experiments));
  const int64_t seconds[] = {1, 2, 30, 4};
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_OK(Write([&] {
      return RecordResult(*db_, {job.experiments[i], LeaseEpoch(1)}, MakeResult(), "", {1'000},
                          {1'000 + seconds[i] * 1'000}, {9})
          .status();
    }));
  }
  const auto durations = *LoadDurations(*db_);
  ASSERT_EQ(durations.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(durations[i].seconds, static_cast<double>(seconds[i]));
    EXPECT_EQ(durations[i].suite, "timm");
    EXPECT_EQ(durations[i].model, i < 3 ? "a" : "b");
    EXPECT_EQ(durations[i].test, "performance");
    EXPECT_EQ(durations[i].start, "cold");
    EXPECT_EQ(durations[i].worker, WorkerId("w"));
  }
  EXPECT_EQ(durations[0].series, plan::SeriesKey(MakeExperiment("a")));
  EXPECT_NE(durations[0].series, durations[3].series);
}

TEST_F(QueriesFleetTest, WhatFailedOrWasSkippedPredictsNothing) {
  NewJob job = MakeJob({"a", "b"});
  job.plan.experiments[1].planned_outcome = plan::Outcome::kSkipped;
  const auto inserted = Submit(job);
  ASSERT_OK(Lease(1, {inserted.experiments[0]}));
  plan::Result failed = MakeResult();
  failed.outcome = plan::Outcome::kFailed;
  ASSERT_TRUE(Record(inserted.experiments[0], 1, failed).ok());
  EXPECT_TRUE(LoadDurations(*db_)->empty());
}

TEST_F(QueriesFleetTest, AWorkerThatComesBackIsTheSameRowWithNewFacts) {
  WorkerRow worker{WorkerId("w"), "renamed", "2", R"({"cores":4})", "[]", {"cuda"}};
  ASSERT_OK(Write([&] { return UpsertWorker(*db_, worker, {5'000}); }));
  const auto workers = *ListWorkers(*db_);
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].host, "renamed");
  EXPECT_EQ(workers[0].inventory_json, R"({"cores":4})");
  EXPECT_EQ(workers[0].first_seen.ms, 1'000);
  EXPECT_EQ(workers[0].last_seen.ms, 5'000);
  EXPECT_EQ(Number("SELECT count(*) FROM slot"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM fingerprint"), 2);
}

TEST_F(QueriesFleetTest, WhenAWorkerWasLastHeardOfNeverMovesBack) {
  ASSERT_OK(Write([&] { return RecordLastSeen(*db_, WorkerId("w"), {9'000}, -40); }));
  ASSERT_OK(Write([&] { return RecordLastSeen(*db_, WorkerId("w"), {7'000}, -40); }));
  const auto workers = *ListWorkers(*db_);
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].last_seen.ms, 9'000);
}

TEST_F(QueriesFleetTest, EnvironmentsThatAreNoListAreRefused) {
  WorkerRow worker{WorkerId("x"), "h", "1", "{}", "{\"name\":1}", {}};
  EXPECT_TRUE(absl::IsInvalidArgument(Write([&] { return UpsertWorker(*db_, worker, {1}); })));
  EXPECT_EQ(ListWorkers(*db_)->size(), 1u);
}

TEST_F(QueriesFleetTest, EventsAreKeptInOrder) {
  for (const char* kind : {"worker_joined", "lease_expired"}) {
    ASSERT_OK(Write([&] { return RecordEvent(*db_, kind, "w", "text", {1}); }));
  }
  EXPECT_EQ(Number("SELECT count(*) FROM event a JOIN event b ON a.id < b.id"
                   " WHERE a.kind = 'worker_joined' AND b.kind = 'lease_expired'"),
            1);
}

}  // namespace
}  // namespace dynbench::store
