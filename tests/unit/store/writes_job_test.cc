// Method: submit small jobs and read what a user would see of them.
#include "common/base/sha256.h"
#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;
using WritesJobTest = StoreTest;

TEST_F(WritesJobTest, ExperimentsComeBackAsPlannedInPlanOrder) {
  NewJob job = MakeJob({"b", "a"});
  job.plan.experiments[1].options.inductor_config = {{"freezing", "True"}};
  const InsertedJob inserted = Submit(job);
  const auto rows = *ListResults(*db_, inserted.job, ExperimentId(), 0, true);
  ASSERT_EQ(rows.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(rows[i].id, inserted.experiments[i]);
    EXPECT_EQ(rows[i].experiment, job.plan.experiments[i]);
    EXPECT_EQ(rows[i].state, "waiting");
    EXPECT_FALSE(rows[i].result.has_value());
  }
}

TEST_F(WritesJobTest, RowsArePagedById) {
  const InsertedJob job = Submit(MakeJob({"a", "b", "c"}));
  const auto first = *ListResults(*db_, job.job, ExperimentId(), 2, false);
  ASSERT_EQ(first.size(), 2u);
  const auto rest = *ListResults(*db_, job.job, first.back().id, 2, false);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].id, job.experiments[2]);
  EXPECT_TRUE(ListResults(*db_, job.job, rest[0].id, 2, false)->empty());
}

TEST_F(WritesJobTest, WhatThePlanSkippedHasItsResultAtOnce) {
  NewJob job = MakeJob({"a", "b"});
  job.plan.experiments[1].planned_outcome = plan::Outcome::kSkipped;
  job.plan.experiments[1].reason = "too slow on cpu";
  const InsertedJob inserted = Submit(job);
  const auto row = *GetExperiment(*db_, inserted.experiments[1]);
  ASSERT_TRUE(row.result.has_value());
  EXPECT_EQ(row.result->outcome, plan::Outcome::kSkipped);
  EXPECT_EQ(row.result->error, "too slow on cpu");
  const Coverage coverage = CoverageOf(inserted.job);
  EXPECT_EQ(coverage.planned, 2);
  EXPECT_EQ(coverage.skipped, 1);
  EXPECT_EQ(coverage.waiting, 1);
}

TEST_F(WritesJobTest, AJobOfSkipsAloneIsFinishedAtOnce) {
  NewJob job = MakeJob({"a"});
  job.plan.experiments[0].planned_outcome = plan::Outcome::kSkipped;
  EXPECT_EQ(GetJob(*db_, Submit(job).job)->state, "finished");
  EXPECT_EQ(GetJob(*db_, Submit(MakeJob({})).job)->state, "finished");
}

TEST_F(WritesJobTest, ARepeatedSubmitWithTheSameKeyIsTheSameJob) {
  NewJob job = MakeJob({"a", "b"});
  job.idempotency_key = "k";
  const InsertedJob first = Submit(job);
  const InsertedJob second = Submit(job);
  EXPECT_FALSE(first.existed);
  EXPECT_TRUE(second.existed);
  EXPECT_EQ(second.job, first.job);
  EXPECT_EQ(second.experiments, first.experiments);
  EXPECT_EQ(ListJobs(*db_, 0)->size(), 1u);
  job.request.label = "another";
  EXPECT_TRUE(absl::IsAlreadyExists(Write([&] { return InsertJob(*db_, job).status(); })));
}

TEST_F(WritesJobTest, TheRequestComesBack) {
  NewJob job = MakeJob({"a"});
  job.request.filters = {"^mobile"};
  job.request.priority = 7;
  job.request.policy = plan::PartitionPolicy::kStatic;
  const JobId id = Submit(job).job;
  EXPECT_EQ(plan::ToJson(*GetRequest(*db_, id)), plan::ToJson(job.request));
  EXPECT_EQ(GetJob(*db_, id)->policy, plan::PartitionPolicy::kStatic);
  EXPECT_EQ(GetJob(*db_, id)->priority, 7);
}

TEST_F(WritesJobTest, AnUnknownJobNamesTheNewestThereIs) {
  EXPECT_THAT(std::string(GetJob(*db_, JobId(9)).status().message()),
              HasSubstr("nothing was submitted yet"));
  Submit(MakeJob({"a"}));
  for (const absl::Status& status :
       {GetJob(*db_, JobId(9)).status(), GetRequest(*db_, JobId(9)).status(),
        ListResults(*db_, JobId(9), ExperimentId(), 0, false).status()}) {
    EXPECT_TRUE(absl::IsNotFound(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("the newest is 1"));
  }
}

TEST_F(WritesJobTest, ARetryIsLinkedToWhatItRepeats) {
  const InsertedJob first = Submit(MakeJob({"a"}));
  NewJob again = MakeJob({"a"});
  again.retries = first.job;
  again.retried = first.experiments;
  const InsertedJob second = Submit(again);
  EXPECT_EQ(GetJob(*db_, second.job)->retries, first.job);
  EXPECT_EQ(Number("SELECT retries FROM experiment WHERE id = " +
                   std::to_string(second.experiments[0].value)),
            first.experiments[0].value);
}

TEST_F(WritesJobTest, ACancelledJobEndsAsCancelledWithItsLastExperiment) {
  const InsertedJob job = Submit(MakeJob({"a"}));
  ASSERT_OK(Write([&] { return MarkCancelled(*db_, job.job, "wrong branch", {5}); }));
  EXPECT_EQ(GetJob(*db_, job.job)->state, "running");
  ASSERT_OK(Write([&] {
    return Conclude(*db_, job.experiments[0], plan::Outcome::kCancelled, "cancelled",
                    plan::Blame::kNone, "wrong branch", {6});
  }));
  const JobRow row = *GetJob(*db_, job.job);
  EXPECT_EQ(row.state, "cancelled");
  EXPECT_EQ(row.cancel_reason, "wrong branch");
  EXPECT_EQ(row.finished_at.ms, 6);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Write([&] { return MarkCancelled(*db_, job.job, "again", {7}); })));
}

TEST_F(WritesJobTest, FilesAreKeptByTheirContent) {
  const std::string bytes("class Net:\0\xff", 12);
  const std::string sha256 = Sha256Hex(bytes);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(Write([&] { return PutFile(*db_, sha256, "model.py", bytes, {1}); }));
  }
  EXPECT_EQ(*GetFile(*db_, sha256), bytes);
  EXPECT_TRUE(absl::IsNotFound(GetFile(*db_, Sha256Hex("other")).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      Write([&] { return PutFile(*db_, sha256, "model.py", "other", {1}); })));
}

}  // namespace
}  // namespace dynbench::store
