// Method: leases on a worker of two slots; what must never be is tried and has to be refused, by
// our functions and by the schema alone.
#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;
using WritesLeaseTest = StoreTest;

TEST_F(WritesLeaseTest, EpochsOnlyGrowEvenAfterTheLeasesAreGone) {
  const auto job = Submit(MakeJob({"a"}));
  ASSERT_OK(Lease(5, {}));
  ASSERT_OK(Write([&] { return CloseLease(*db_, LeaseEpoch(5), {9}); }));
  EXPECT_FALSE(Lease(5, {}).ok());
  EXPECT_FALSE(Lease(4, {}).ok());
  ASSERT_OK(Execute(db_->handle(), "DELETE FROM lease"));
  EXPECT_EQ(LoadOpenWork(*db_)->last_epoch, LeaseEpoch(5));
  EXPECT_THAT(std::string(Lease(5, {}).message()), HasSubstr("strictly increase"));
  EXPECT_OK(Lease(6, job.experiments));
}

TEST_F(WritesLeaseTest, ASlotHasOneLiveLeaseAndAnExperimentToo) {
  const auto job = Submit(MakeJob({"a", "b"}));
  ASSERT_OK(Lease(1, {job.experiments[0]}));
  EXPECT_TRUE(absl::IsFailedPrecondition(Lease(2, {job.experiments[1]})));
  const absl::Status twice = Lease(3, {job.experiments[1], job.experiments[0]}, 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(twice));
  EXPECT_THAT(std::string(twice.message()), HasSubstr("still leased under 1"));
  EXPECT_EQ(Number("SELECT count(*) FROM attempt"), 1);  // nothing of the refused ones
}

TEST_F(WritesLeaseTest, ALeaseThatAKilledCoordinatorDidNotCloseDoesNotKeepTheSlot) {
  const auto job = Submit(MakeJob({"a", "b"}));
  ASSERT_OK(Lease(1, {job.experiments[0]}));
  ASSERT_TRUE(Record(job.experiments[0], 1).ok());
  EXPECT_OK(Lease(2, {job.experiments[1]}));
}

TEST_F(WritesLeaseTest, AnUnknownWorkerOrExperimentIsRefused) {
  EXPECT_TRUE(absl::IsNotFound(Lease(1, {}, 0, "nobody")));
  EXPECT_TRUE(absl::IsNotFound(Lease(1, {ExperimentId(77)})));
  EXPECT_TRUE(absl::IsNotFound(Write([&] {
    return RecordStarted(*db_, {ExperimentId(1), LeaseEpoch(1)}, {1});
  })));
}

TEST_F(WritesLeaseTest, StartedIsCountedOnceAndShownAsRunning) {
  const auto job = Submit(MakeJob({"a"}));
  const ExperimentId e = job.experiments[0];
  ASSERT_OK(Lease(1, {e}));
  EXPECT_EQ(CoverageOf(job.job).waiting, 1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(Write([&] { return RecordStarted(*db_, {e, LeaseEpoch(1)}, {2'500}); }));
  }
  EXPECT_EQ(CoverageOf(job.job).running, 1);
  const ResultRow row = *GetExperiment(*db_, e);
  EXPECT_EQ(row.state, "running");
  EXPECT_EQ(row.attempt, 1);
  EXPECT_EQ(row.worker.value, "w");
  EXPECT_EQ(row.worker_host, "host-w");
  EXPECT_EQ(row.started_at.ms, 2'500);
}

TEST_F(WritesLeaseTest, ARequeuedExperimentWaitsAndItsAttemptSaysWhy) {
  const auto job = Submit(MakeJob({"a"}));
  const ExperimentId e = job.experiments[0];
  ASSERT_OK(Lease(1, {e}));
  ASSERT_OK(Write([&] { return RecordStarted(*db_, {e, LeaseEpoch(1)}, {2'500}); }));
  ASSERT_OK(Write([&] { return Requeue(*db_, e, LeaseEpoch(1), "worker died", {4'000}); }));
  EXPECT_EQ(CoverageOf(job.job).waiting, 1);
  ASSERT_OK(Lease(2, {e}, 1));
  // The old epoch has nothing to say any more.
  ASSERT_OK(Write([&] { return Requeue(*db_, e, LeaseEpoch(1), "again", {5'000}); }));
  ASSERT_OK(Write([&] { return RecordStarted(*db_, {e, LeaseEpoch(1)}, {5'000}); }));
  EXPECT_EQ(GetExperiment(*db_, e)->lease, LeaseEpoch(2));
  EXPECT_EQ(GetExperiment(*db_, e)->state, "waiting");
  const auto attempts = *ListAttempts(*db_, e);
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].state, "requeued");
  EXPECT_EQ(attempts[0].reason, "worker died");
  EXPECT_EQ(attempts[1].state, "leased");
  EXPECT_EQ(attempts[1].slot, 1);
}

TEST_F(WritesLeaseTest, WhatCountsAgainstAnExperimentIsKnownAfterARestart) {
  const auto job = Submit(MakeJob({"a", "b"}));
  int64_t epoch = 0;
  const auto go_back = [&](const ExperimentId& e, const std::string& cause) {
    ASSERT_OK(Lease(++epoch, {e}));
    ASSERT_OK(Write([&] { return Requeue(*db_, e, LeaseEpoch(epoch), "x", {1}, cause); }));
    ASSERT_OK(Write([&] { return CloseLease(*db_, LeaseEpoch(epoch), {1}); }));
  };
  go_back(job.experiments[0], "crash");
  go_back(job.experiments[0], "infrastructure");
  go_back(job.experiments[0], "infrastructure");
  go_back(job.experiments[1], "");
  go_back(job.experiments[1], "phase_limit");
  const auto work = LoadOpenWork(*db_);
  ASSERT_OK(work.status());
  ASSERT_EQ(work->experiments.size(), 2u);
  EXPECT_EQ(work->experiments[0].crashes, 1);
  EXPECT_EQ(work->experiments[0].infrastructure_failures, 2);
  EXPECT_EQ(work->experiments[0].phase_limits, 0);
  EXPECT_EQ(work->experiments[0].failed_on.size(), 2u);
  EXPECT_EQ(work->experiments[0].failed_on.at(0), (SlotId{WorkerId("w"), 0}));
  EXPECT_EQ(work->experiments[0].avoid, WorkerId("w"));
  EXPECT_TRUE(work->experiments[1].failed_on.empty());
  EXPECT_EQ(work->experiments[1].avoid, WorkerId("w"));
  EXPECT_EQ(work->experiments[1].crashes, 0);
  EXPECT_EQ(work->experiments[1].phase_limits, 1);
}

TEST_F(WritesLeaseTest, AResultThatCameBeforeItsNewLeaseCountsAndTheLeaseIsHarmless) {
  const auto job = Submit(MakeJob({"a", "b"}));
  ASSERT_OK(Lease(1, {job.experiments[0]}));
  EXPECT_EQ(*Record(job.experiments[0], 1), Acceptance::kCounted);
  ASSERT_OK(
      Write([&] { return Requeue(*db_, job.experiments[0], LeaseEpoch(1), "expired", {1}); }));
  ASSERT_OK(Lease(2, job.experiments, 1));
  EXPECT_EQ(*Record(job.experiments[0], 2), Acceptance::kSuperseded);
  EXPECT_EQ(*Record(job.experiments[1], 2), Acceptance::kCounted);
  EXPECT_EQ(GetExperiment(*db_, job.experiments[0])->lease, LeaseEpoch(1));
}

TEST_F(WritesLeaseTest, OpenWorkIsWhatASchedulerNeedsAfterARestart) {
  Submit(MakeJob({}));
  const auto job = Submit(MakeJob({"a", "b", "c"}));
  ASSERT_OK(Lease(7, {job.experiments[0], job.experiments[1]}, 1));
  ASSERT_OK(Write([&] { return RecordStarted(*db_, {job.experiments[0], LeaseEpoch(7)}, {1}); }));
  ASSERT_TRUE(Record(job.experiments[1], 7).ok());
  const OpenWork work = *LoadOpenWork(*db_);
  ASSERT_EQ(work.jobs.size(), 1u);
  EXPECT_EQ(work.jobs[0].id, job.job);
  ASSERT_EQ(work.experiments.size(), 2u);
  EXPECT_EQ(work.experiments[0].lease, LeaseEpoch(7));
  EXPECT_EQ(work.experiments[0].slot, (SlotId{WorkerId("w"), 1}));
  EXPECT_TRUE(work.experiments[0].started);
  EXPECT_EQ(work.experiments[1].id, job.experiments[2]);
  EXPECT_FALSE(work.experiments[1].lease);
  EXPECT_EQ(work.last_epoch, LeaseEpoch(7));
}

TEST_F(WritesLeaseTest, WhatMustNeverBeIsRefusedByTheSchemaItself) {
  const auto job = Submit(MakeJob({"a", "b"}));
  ASSERT_OK(Lease(1, job.experiments));
  ASSERT_TRUE(Record(job.experiments[0], 1).ok());
  for (const char* sql : {
           "UPDATE result SET outcome = 'failed'",
           "UPDATE experiment SET state = 'waiting' WHERE id = 1",
           "UPDATE experiment SET state = 'done', lease = NULL WHERE id = 2",
           "UPDATE experiment SET state = 'sleeping' WHERE id = 2",
           "UPDATE experiment SET precision = 'int3' WHERE id = 2",
           "INSERT INTO result SELECT * FROM result WHERE experiment = 1",
           "UPDATE lease SET epoch = 9",
           "UPDATE lease SET state = 'closed'",
           "UPDATE job SET passed = planned + 1",
           "UPDATE job SET state = 'finished', finished_unix_ms = 1",
           "DELETE FROM worker",
           "DELETE FROM job",
       }) {
    EXPECT_FALSE(Execute(db_->handle(), sql).ok()) << sql;
  }
  EXPECT_EQ(Number("SELECT count(*) FROM result"), 1);
}

}  // namespace
}  // namespace dynbench::store
