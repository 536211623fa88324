// Method: walk experiments through their states; after every step the counts must add up to what
// was planned.
#include "coordinator/session/live_jobs.h"

#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

void ExpectBalanced(const LiveJobs& jobs) {
  for (const auto& [id, live] : jobs.jobs()) {
    const v1::Coverage& c = live.job.coverage();
    EXPECT_EQ(c.planned(), c.passed() + c.failed() + c.skipped() + c.lost() + c.cancelled() +
                               c.waiting() + c.running())
        << c.ShortDebugString();
  }
}

LiveExperiment Make(int64_t id) {
  plan::Experiment experiment;
  experiment.model = "m" + std::to_string(id);
  LiveExperiment live = MakeLive(experiment);
  live.id = ExperimentId(id);
  live.job = JobId(1);
  return live;
}

TEST(LiveJobsTest, CountsFollowEveryStep) {
  LiveJobs jobs;
  v1::Job job;
  job.set_id(1);
  job.mutable_coverage()->set_planned(4);
  job.mutable_coverage()->set_skipped(1);
  jobs.Add(job, {Make(1), Make(2), Make(3)});
  ExpectBalanced(jobs);

  jobs.Leased(ExperimentId(1), LeaseEpoch(5), WorkerId("w"), "host", 0);
  jobs.Leased(ExperimentId(2), LeaseEpoch(5), WorkerId("w"), "host", 0);
  EXPECT_TRUE(jobs.Running().empty());
  jobs.Started(*jobs.Find(ExperimentId(1)), 10);
  jobs.Started(*jobs.Find(ExperimentId(1)), 10);  // heard twice
  EXPECT_EQ(jobs.FindJob(JobId(1))->job.coverage().running(), 1);
  EXPECT_EQ(jobs.Running().size(), 1u);
  ExpectBalanced(jobs);

  jobs.Waits(*jobs.Find(ExperimentId(1)));
  ExpectBalanced(jobs);
  EXPECT_EQ(jobs.UnderLease(LeaseEpoch(5)).size(), 1u);

  jobs.Done(ExperimentId(1), plan::Outcome::kPassed);
  jobs.Done(ExperimentId(2), plan::Outcome::kFailed);
  jobs.Done(ExperimentId(2), plan::Outcome::kPassed);  // it has its result
  ExpectBalanced(jobs);
  EXPECT_FALSE(jobs.FindJob(JobId(1))->finished());
  jobs.Done(ExperimentId(3), plan::Outcome::kCancelled);
  EXPECT_TRUE(jobs.FindJob(JobId(1))->finished());
  ExpectBalanced(jobs);
  EXPECT_EQ(jobs.open_experiments(), 0u);
}

}  // namespace
}  // namespace dynbench::session
