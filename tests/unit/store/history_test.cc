// Method: a real database with nights of known results; each question must give exactly the rows
// that it is about, the newest of each series and environment, oldest first.
#include "common/store/history.h"

#include <gmock/gmock.h>

#include "common/store/queries.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    db_ = OpenOrDie(folder_.File("db"), Access::kReadWrite);
    ASSERT_OK(Execute(db_->handle(), "BEGIN IMMEDIATE"));
    ASSERT_OK(UpsertWorker(*db_,
                           {WorkerId("w"),
                            "host-w",
                            "0.1.0",
                            R"({"cpu_model":"EPYC"})",
                            R"([{"name":"default","torch_version":"2.14.1","hash":"00bb"}])",
                            {"cpu"}},
                           {1'000}));
  }

  // Runs one experiment of a job of its own; answers its id.
  ExperimentId Night(const plan::Experiment& experiment, plan::Outcome outcome,
                     const std::string& status) {
    NewJob job = MakeJob({});
    job.submitted_at = {++nights_ * 1'000};
    job.plan.experiments = {experiment};
    const auto inserted = InsertJob(*db_, job);
    EXPECT_OK(inserted.status());
    const ExperimentId id = inserted->experiments.front();
    const AttemptId attempt{id, LeaseEpoch(++epoch_)};
    EXPECT_OK(InsertLease(*db_, attempt.lease, {WorkerId("w"), 0}, {id}, {1}));
    plan::Result result = MakeResult();
    result.outcome = outcome;
    result.status = status;
    EXPECT_OK(RecordResult(*db_, attempt, result, "", {1}, {2}, {2}).status());
    EXPECT_OK(CloseLease(*db_, attempt.lease, {2}));
    return id;
  }
  ExperimentId Passed(const plan::Experiment& experiment) {
    return Night(experiment, plan::Outcome::kPassed, "measured");
  }

  std::vector<ExperimentId> Ids(const HistoryFilter& filter) {
    const auto history = LoadHistory(*db_, filter);
    EXPECT_OK(history.status());
    return IdsOf(history.ok() ? *history : History());
  }
  static std::vector<ExperimentId> IdsOf(const History& history) {
    std::vector<ExperimentId> ids;
    for (const HistoryRow& row : history.rows) ids.push_back(row.row.id);
    return ids;
  }
  static HistoryFilter OfModel(const std::string& model) {
    HistoryFilter filter;
    filter.model = model;
    return filter;
  }

  TempFolder folder_;
  std::unique_ptr<Database> db_;
  int64_t nights_ = 0, epoch_ = 0;
};

TEST_F(HistoryTest, TheNewestOfASeriesOldestFirst) {
  const plan::Experiment a = MakeExperiment("a"), b = MakeExperiment("b");
  Passed(a);
  const ExperimentId second = Passed(a);
  const ExperimentId other = Passed(b);
  const ExperimentId third = Night(a, plan::Outcome::kFailed, "fail_accuracy");
  HistoryFilter filter = OfModel("a");
  filter.newest = 2;
  EXPECT_THAT(Ids(filter), ElementsAre(second, third));
  EXPECT_THAT(Ids(OfModel("b")), ElementsAre(other));
  EXPECT_THAT(Ids(OfModel("c")), IsEmpty());
  filter = {};
  filter.series = {plan::SeriesKey(a), plan::SeriesKey(b)};
  filter.newest = 1;
  EXPECT_THAT(Ids(filter), ElementsAre(other, third));
  filter.newest = 2;
  filter.up_to = other;
  EXPECT_THAT(Ids(filter), ElementsAre(ExperimentId(1), second, other));
}

TEST_F(HistoryTest, ASuiteIsAsked) {
  plan::Experiment mine = MakeExperiment("a");
  mine.suite = "mine";
  const ExperimentId of_timm = Passed(MakeExperiment("a")), of_mine = Passed(mine);
  EXPECT_THAT(Ids(OfModel("a")), ElementsAre(of_timm, of_mine));
  HistoryFilter filter = OfModel("a");
  filter.suite = "mine";
  EXPECT_THAT(Ids(filter), ElementsAre(of_mine));
}

TEST_F(HistoryTest, WhatIsNoNightIsLeftOut) {
  plan::Experiment round = MakeExperiment("a"), traced = MakeExperiment("a");
  round.pair = 1;
  round.round = 1;
  round.side = "new";
  traced.diagnostics = {"trace"};
  Passed(round);
  Passed(traced);
  Night(MakeExperiment("a"), plan::Outcome::kSkipped, "skipped");
  Night(MakeExperiment("a"), plan::Outcome::kLost, "device_lost");
  const ExperimentId one = Passed(MakeExperiment("a"));
  HistoryFilter filter = OfModel("a");
  filter.newest = 1;
  EXPECT_THAT(Ids(filter), ElementsAre(one));
  filter.newest = 10;
  EXPECT_THAT(Ids(filter), ElementsAre(one));
}

TEST_F(HistoryTest, AJobWhoseFirstStartedExperimentIsARoundRanPairs) {
  plan::Experiment round = MakeExperiment("a");
  round.pair = 1;
  round.round = 1;
  const auto ran_pairs = [&](ExperimentId id) {
    Statement job(*db_, "SELECT job FROM experiment WHERE id = ?");
    job.Bind(id);
    EXPECT_OK(job.Step().status());
    const auto ran = RanPairs(*db_, JobId(job.Int(0)));
    EXPECT_OK(ran.status());
    return ran.ok() && *ran;
  };
  EXPECT_FALSE(ran_pairs(Passed(MakeExperiment("a"))));
  EXPECT_TRUE(ran_pairs(Passed(round)));
  const auto waits = InsertJob(*db_, MakeJob({"a"}));
  ASSERT_OK(waits.status());
  EXPECT_FALSE(ran_pairs(waits->experiments[0])) << "nothing was started";
}

TEST_F(HistoryTest, WithMachineAndBuild) {
  Passed(MakeExperiment("a"));
  const auto history = LoadHistory(*db_, OfModel("a"));
  ASSERT_OK(history.status());
  ASSERT_EQ(history->rows.size(), 1U);
  EXPECT_EQ(history->rows[0].environment_hash, "00bb");
  EXPECT_EQ(history->inventories.at(history->rows[0].fingerprint), R"({"cpu_model":"EPYC"})");
}

TEST_F(HistoryTest, EverythingSinceAMoment) {
  Passed(MakeExperiment("a"));
  const ExperimentId second = Passed(MakeExperiment("a"));
  Passed(MakeExperiment("b", plan::Test::kAccuracy));
  Night(MakeExperiment("b"), plan::Outcome::kFailed, "crash");
  const ExperimentId last = Passed(MakeExperiment("b"));
  const auto since = LoadHistorySince(*db_, {2'000}, 10);
  ASSERT_OK(since.status());
  EXPECT_THAT(IdsOf(*since), ElementsAre(second, last)) << "timings that were measured";
  EXPECT_THAT(IdsOf(*LoadHistorySince(*db_, {2'000}, 1)), ElementsAre(last));
  EXPECT_THAT(IdsOf(*LoadHistorySince(*db_, {100'000}, 10)), IsEmpty());
}

TEST_F(HistoryTest, WhatBecameOfTheAttemptsOfAHost) {
  Passed(MakeExperiment("a"));
  Night(MakeExperiment("b"), plan::Outcome::kFailed, "crash");
  Night(MakeExperiment("c"), plan::Outcome::kLost, "device_lost");
  NewJob job = MakeJob({"d"});
  job.submitted_at = {9'000};
  const auto inserted = InsertJob(*db_, job);
  ASSERT_OK(inserted.status());
  const ExperimentId id = inserted->experiments.front();
  // Went back before it began, went back as an infrastructure failure, and was lost with the third.
  for (const char* cause : {"", "infrastructure", "lost"}) {
    const AttemptId attempt{id, LeaseEpoch(++epoch_)};
    ASSERT_OK(InsertLease(*db_, attempt.lease, {WorkerId("w"), 0}, {id}, {1}));
    if (*cause != 0) ASSERT_OK(RecordStarted(*db_, attempt, {2}));
    if (std::string(cause) == "lost") {
      ASSERT_OK(
          Conclude(*db_, id, plan::Outcome::kLost, "lost", plan::Blame::kInfrastructure, "x", {3}));
    } else {
      ASSERT_OK(Requeue(*db_, id, attempt.lease, "x", {3}, cause));
    }
    ASSERT_OK(CloseLease(*db_, attempt.lease, {3}));
  }
  const auto history = LoadHistorySince(*db_, {0}, 10);
  ASSERT_OK(history.status());
  ASSERT_EQ(history->hosts.size(), 1U);
  EXPECT_EQ(history->hosts[0].host, "host-w");
  EXPECT_EQ(history->hosts[0].attempts, 5);
  EXPECT_EQ(history->hosts[0].failures, 3);
}

TEST_F(HistoryTest, AQuestionAboutNothingIsRefused) {
  EXPECT_EQ(LoadHistory(*db_, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace dynbench::store
