// Method: a real coordinator in this process and workers that follow a script over real gRPC; each
// test checks what a user would see (rows, attempts, acknowledgements), never internals.
#include "coordinator/session/dispatcher.h"

#include <set>

#include "common/store/queries.h"
#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kModel[] = "mobilenetv2_100";

class DispatcherTest : public CoordinatorTest {
 protected:
  // The states of the attempts of an experiment, oldest first.
  std::vector<std::string> AttemptStates(int64_t experiment) {
    std::vector<std::string> states;
    const v1::ExperimentDetail detail = client().Experiment(experiment);
    for (const v1::Attempt& attempt : detail.attempts()) {
      states.push_back(attempt.state());
    }
    return states;
  }
  // What another process would find in the database now.
  int64_t CountedInStore(int64_t job) {
    auto db = store::Database::Open(server_->database(), store::Access::kReadOnly);
    EXPECT_TRUE(db.ok()) << db.status();
    return store::GetJob(**db, JobId(job))->coverage.passed;
  }
};

TEST_F(DispatcherTest, AResultIsAcknowledgedOnlyAfterItIsInTheDatabase) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  EXPECT_EQ(worker->Welcome().verdict(), v1::Welcome::OK);
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::Lease lease = worker->NextLease();
  ASSERT_EQ(lease.experiments_size(), 1);
  const auto experiment = plan::ExperimentFromJson(lease.experiments(0).json());
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_EQ(experiment->model, kModel);

  worker->Start(AttemptOf(lease));
  EXPECT_TRUE(Eventually([&] { return client().Job(job).coverage().running() == 1; }));
  worker->Finish(AttemptOf(lease));
  ASSERT_TRUE(worker->Acknowledged(AttemptOf(lease)));
  EXPECT_EQ(CountedInStore(job), 1);
  EXPECT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
  EXPECT_EQ(client().Rows(job).at(0).result().metrics().speedup(), 1.5);
}

TEST_F(DispatcherTest, ADuplicateResultIsAcknowledgedAndCountedOnce) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::AttemptId attempt = AttemptOf(worker->NextLease());
  worker->Finish(attempt);
  worker->Finish(attempt, "failed");
  EXPECT_TRUE(worker->Acknowledged(attempt));
  EXPECT_TRUE(worker->Acknowledged(attempt));
  const v1::Job after = client().Job(job);
  EXPECT_EQ(after.coverage().passed(), 1);
  EXPECT_EQ(after.coverage().failed(), 0);
}

TEST_F(DispatcherTest, ManyResultsAtOnceAreAllAcknowledgedInAFormThatTheWorkerReads) {
  StartServer();
  for (const bool groups : {true, false}) {
    v1::Hello hello = HelloOf(groups ? "groups" : "singly");
    hello.set_takes_acknowledged_groups(groups);
    auto worker = Join(hello);
    const int64_t job =
        client()
            .Submit(RequestFor({"mobilenetv2_100", "repvgg_a2", "ghostnet_100", "nfnet_l0",
                                "mobilevit_s", "inception_v3", "visformer_small", "dm_nfnet_f0"}))
            .job();
    std::set<int64_t> open;
    for (int finished = 0; finished < 8;) {
      const v1::Lease lease = worker->NextLease();
      ASSERT_GT(lease.experiments_size(), 0);
      for (int i = 0; i < lease.experiments_size(); ++i, ++finished) {
        open.insert(lease.experiments(i).id());
        v1::AttemptId attempt;
        attempt.set_experiment(lease.experiments(i).id());
        attempt.set_lease(lease.epoch());
        worker->Finish(attempt);
      }
      while (!open.empty()) {
        const auto told = worker->Next([](const auto& m) { return m.has_acknowledged(); });
        ASSERT_TRUE(told.has_value()) << open.size() << " are not acknowledged";
        EXPECT_EQ(open.erase(told->acknowledged().attempt().experiment()), 1u);
        EXPECT_TRUE(groups || told->acknowledged().more_size() == 0);
        for (const auto& attempt : told->acknowledged().more()) {
          EXPECT_EQ(open.erase(attempt.experiment()), 1u);
        }
      }
    }
    EXPECT_EQ(CountedInStore(job), 8);
  }
}

TEST_F(DispatcherTest, AResultThatCannotBeReadIsARowAndNotLost) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  v1::WorkerMessage message;
  *message.mutable_finished()->mutable_attempt() = AttemptOf(worker->NextLease());
  message.mutable_finished()->mutable_result()->set_outcome("splendid");
  worker->Send(message);
  EXPECT_TRUE(worker->Acknowledged(message.finished().attempt()));
  const v1::ResultRow row = client().Rows(job).at(0);
  EXPECT_EQ(row.result().outcome(), "lost");
  EXPECT_THAT(row.result().error(), HasSubstr("splendid"));
}

TEST_F(DispatcherTest, AWorkerThatComesBackWithItsLeaseGoesOn) {
  StartServer();
  v1::Hello hello = HelloOf("a");
  auto worker = Join(hello);
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::Lease lease = worker->NextLease();
  worker->Start(AttemptOf(lease));
  worker->Drop();
  ASSERT_TRUE(Eventually([&] { return !client().Workers().at(0).connected(); }));

  Hold(&hello, lease);
  worker = Join(hello);
  EXPECT_EQ(worker->Welcome().verdict(), v1::Welcome::OK);
  worker->Finish(AttemptOf(lease));
  EXPECT_TRUE(worker->Acknowledged(AttemptOf(lease)));
  const v1::ResultRow row = client().Rows(job).at(0);
  EXPECT_EQ(row.lease(), lease.epoch());
  EXPECT_THAT(AttemptStates(row.experiment().id()), ElementsAre("done"));
  for (const auto& message : worker->Heard()) {
    EXPECT_FALSE(message.has_lease() || message.has_revoke()) << message.ShortDebugString();
  }
}

TEST_F(DispatcherTest, ALeaseThatTheWorkerLostIsGivenAgain) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  client().Submit(RequestFor({kModel}));
  const v1::Lease lost = worker->NextLease();
  worker->Drop();
  worker = Join(HelloOf("a"));  // holds nothing
  const v1::Lease again = worker->NextLease();
  EXPECT_GT(again.epoch(), lost.epoch());
  EXPECT_EQ(again.experiments(0).id(), lost.experiments(0).id());
}

TEST_F(DispatcherTest, AnExpiredLeaseGoesToAnotherWorkerAndTheLateResultIsSuperseded) {
  options_.dispatcher.lease_ttl_ns = 300 * kNsPerMs;
  StartServer();
  auto slow = Join(HelloOf("slow"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::Lease first = slow->NextLease();
  slow->Start(AttemptOf(first));
  auto quick = Join(HelloOf("quick"));
  const v1::Lease second = quick->NextLease();
  EXPECT_GT(second.epoch(), first.epoch());

  slow->Finish(AttemptOf(first), "failed");
  EXPECT_TRUE(slow->Acknowledged(AttemptOf(first)));
  quick->Finish(AttemptOf(second));
  EXPECT_TRUE(quick->Acknowledged(AttemptOf(second)));
  const v1::Job after = client().Job(job);
  EXPECT_EQ(after.coverage().passed(), 1);
  EXPECT_EQ(after.coverage().failed(), 0);
  EXPECT_THAT(AttemptStates(first.experiments(0).id()), ElementsAre("superseded", "done"));
}

// A suite of the user's own that says how long its models compile: "b" longest.
plan::Request OwnSuite() {
  plan::Request request;
  request.inline_suite.emplace();
  request.inline_suite->name = "mine";
  request.inline_suite->loader = "timm";
  for (const auto& [name, seconds] : {std::pair{"a", 10.0}, {"b", 60.0}, {"c", 20.0}}) {
    plan::ModelRules& model = request.inline_suite->models.emplace_back();
    model.name = name;
    model.batch_size = 1;
    model.typical_compile_s = seconds;
  }
  request.tests = {plan::Test::kPerformance};
  return request;
}

std::string FirstModelOf(const v1::Lease& lease) {
  if (lease.experiments_size() == 0) return "no experiment";
  return plan::ExperimentFromJson(lease.experiments(0).json())->model;
}

TEST_F(DispatcherTest, AUsersSuiteSaysWhoIsBegunFirst) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  client().Submit(OwnSuite());
  const v1::Lease lease = worker->NextLease();
  ASSERT_EQ(FirstModelOf(lease), "b");
  EXPECT_DOUBLE_EQ(lease.experiments(0).compile_weight(), 3) << "60 s beside the median of 20";
}

TEST_F(DispatcherTest, AUsersSuiteSaysWhoIsBegunFirstAfterARestartToo) {
  StartServer();
  client().Submit(OwnSuite());
  server_.reset();
  StartServer();
  auto worker = Join(HelloOf("a"));
  const v1::Lease lease = worker->NextLease();
  ASSERT_EQ(FirstModelOf(lease), "b");
  EXPECT_DOUBLE_EQ(lease.experiments(0).compile_weight(), 3) << "60 s beside the median of 20";
}

TEST_F(DispatcherTest, ARestartedCoordinatorAdoptsWhatRuns) {
  StartServer();
  v1::Hello hello = HelloOf("a");
  auto worker = Join(hello);
  const int64_t job = client().Submit(RequestFor({kModel, "repvgg_a2"})).job();
  const v1::Lease lease = worker->NextLease();
  worker->Start(AttemptOf(lease));
  ASSERT_TRUE(Eventually([&] { return client().Job(job).coverage().running() == 1; }));

  server_.reset();
  EXPECT_TRUE(worker->Next([](const auto& m) { return m.has_restarting(); }).has_value());
  EXPECT_TRUE(worker->Ended());
  StartServer();
  EXPECT_EQ(client().Job(job).coverage().running(), 1);
  Hold(&hello, lease);
  worker = Join(hello);
  worker->Finish(AttemptOf(lease));
  EXPECT_TRUE(worker->Acknowledged(AttemptOf(lease)));
  const v1::ResultRow row = client().Rows(job).at(0);
  EXPECT_EQ(row.lease(), lease.epoch());
  EXPECT_EQ(row.attempt(), 1);
  // What waited goes on, under an epoch that was never used before.
  v1::Lease next = lease;
  if (lease.experiments_size() == 1) next = worker->NextLease();
  worker->Finish(AttemptOf(next, lease.experiments_size() == 1 ? 0 : 1));
  EXPECT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
}

TEST_F(DispatcherTest, AModelThatKillsItsWorkerTwiceIsAFailureWithItsReason) {
  StartServer();
  int64_t start = 1;
  auto worker = Join(HelloOf("a", start));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  for (int death = 0; death < 2; ++death) {
    const v1::Lease lease = worker->NextLease();
    worker->Start(AttemptOf(lease));
    ASSERT_TRUE(Eventually([&] { return client().Job(job).coverage().running() == 1; }));
    worker->Drop();
    v1::Hello hello = HelloOf("a", ++start);
    *hello.add_died() = AttemptOf(lease);
    worker = Join(hello);
  }
  ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
  const v1::ResultRow row = client().Rows(job).at(0);
  EXPECT_EQ(row.result().outcome(), "failed");
  EXPECT_EQ(row.result().status(), "crash");
  EXPECT_THAT(row.result().error(), HasSubstr("died"));
}

TEST_F(DispatcherTest, ARestartForgivesNoDeathTwice) {
  StartServer();
  int64_t start = 1, job = 0;
  for (int death = 0; death < 2; ++death) {
    auto worker = Join(HelloOf("a", start));
    if (death == 0) job = client().Submit(RequestFor({kModel})).job();
    const v1::Lease lease = worker->NextLease();
    worker->Start(AttemptOf(lease));
    ASSERT_TRUE(Eventually([&] { return client().Job(job).coverage().running() == 1; }));
    worker->Drop();
    v1::Hello hello = HelloOf("a", ++start);
    *hello.add_died() = AttemptOf(lease);
    worker = Join(hello);
    EXPECT_EQ(worker->Welcome().verdict(), v1::Welcome::OK);
    if (death == 1) break;
    const v1::Lease again = worker->NextLease();  // the death is in the store by now
    EXPECT_GT(again.epoch(), lease.epoch());
    worker->Drop();
    server_.reset();
    StartServer();
    ++start;
  }
  ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
  EXPECT_EQ(client().Rows(job).at(0).result().status(), "crash");
}

class PhaseLimitTest : public DispatcherTest {
 protected:
  // Runs of the model that pass, each with a compilation of 20 s.
  void Teach(ScriptedWorker& worker, int runs) {
    for (int i = 0; i < runs; ++i) {
      const int64_t job = client().Submit(RequestFor({kModel})).job();
      const v1::AttemptId attempt = AttemptOf(worker.NextLease());
      v1::WorkerMessage message;
      v1::AttemptFinished& finished = *message.mutable_finished();
      *finished.mutable_attempt() = attempt;
      finished.set_started_unix_ms(1000);
      finished.set_finished_unix_ms(31'000);
      plan::Result result;
      result.outcome = plan::Outcome::kPassed;
      result.status = "measured";
      result.phases = {{plan::Phase::kCompile, 20'000'000'000, 0}};
      *finished.mutable_result() = proto::ToProto(result);
      worker.Send(message);
      ASSERT_TRUE(worker.Acknowledged(attempt));
      ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
    }
  }
  static void HitLimit(ScriptedWorker& worker, const v1::Lease& lease) {
    v1::WorkerMessage message;
    *message.mutable_returned()->mutable_attempt() = AttemptOf(lease);
    message.mutable_returned()->set_reason("phase compile took longer than 80 s");
    message.mutable_returned()->set_phase_limit(true);
    worker.Send(message);
  }
};

TEST_F(PhaseLimitTest, LimitsAreLearnedGoWithTheLeaseAndCountOnce) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  Teach(*worker, 5);
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::Lease lease = worker->NextLease();
  ASSERT_EQ(lease.experiments(0).phase_limits_size(), 1);
  const v1::PhaseLimit limit = lease.experiments(0).phase_limits(0);
  EXPECT_EQ(limit.phase(), "compile");
  EXPECT_EQ(limit.limit_ms(), 80'000);
  EXPECT_THAT(limit.origin(), HasSubstr("5 runs of the series"));
  worker->Start(AttemptOf(lease));
  HitLimit(*worker, lease);
  const v1::Lease again = worker->NextLease();
  EXPECT_EQ(again.experiments(0).phase_limits_size(), 0) << "now with the whole timeout";
  const v1::ExperimentDetail detail = client().Experiment(lease.experiments(0).id());
  ASSERT_EQ(detail.attempts_size(), 2);
  EXPECT_THAT(detail.attempts(0).reason(), HasSubstr("compile took longer than 80 s"));
  worker->Finish(AttemptOf(again));
  EXPECT_TRUE(Eventually([&] { return client().Job(job).coverage().passed() == 1; }));
}

TEST_F(PhaseLimitTest, ARestartKnowsWhatWasLearnedAndWhatHasBeenHit) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  Teach(*worker, 5);
  client().Submit(RequestFor({kModel})).job();
  HitLimit(*worker, worker->NextLease());
  worker->NextLease();
  worker.reset();
  server_.reset();
  StartServer();
  worker = Join(HelloOf("a", 2));
  EXPECT_EQ(worker->NextLease().experiments(0).phase_limits_size(), 0) << "was hit before";
  auto other = Join(HelloOf("b"));
  client().Submit(RequestFor({kModel}));
  EXPECT_EQ(other->NextLease().experiments(0).phase_limits_size(), 1);
}

TEST_F(DispatcherTest, ADeviceThatFailsIsNoResultWhileAnotherSlotIsKnown) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::Lease lease = worker->NextLease();
  worker->Start(AttemptOf(lease));
  auto other = Join(HelloOf("b"));
  ASSERT_EQ(other->Welcome().verdict(), v1::Welcome::OK);
  worker->Fail(AttemptOf(lease), "gpu_hang", "HW Exception");
  const int64_t experiment = lease.experiments(0).id();
  ASSERT_TRUE(Eventually([&] { return AttemptStates(experiment).at(0) == "requeued"; }));
  EXPECT_THAT(client().Experiment(experiment).attempts(0).reason(),
              HasSubstr("gpu_hang in phase compile"));
  EXPECT_EQ(client().Job(job).coverage().lost(), 0);
}

TEST_F(DispatcherTest, ADeviceThatFailsIsTheResultWhereNothingElseCouldRunIt) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::Lease lease = worker->NextLease();
  worker->Start(AttemptOf(lease));
  worker->Fail(AttemptOf(lease), "device_lost", "the GPU is lost");
  ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
  const v1::Result result = client().Rows(job).at(0).result();
  EXPECT_EQ(result.outcome(), "lost");
  EXPECT_EQ(result.status(), "device_lost");
  EXPECT_EQ(result.blame(), "infrastructure");
  EXPECT_THAT(result.error(), HasSubstr("the GPU is lost"));
  EXPECT_THAT(result.error(), HasSubstr("no other slot is known"));
}

TEST_F(DispatcherTest, AHostThatFailsIsTheResultOnlyWhenItsRetriesAreSpent) {
  options_.dispatcher.backoff.first_ns = options_.dispatcher.backoff.limit_ns = kNsPerMs;
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const v1::Lease lease = worker->NextLease();
    worker->Start(AttemptOf(lease));
    worker->Fail(AttemptOf(lease), "no_space", "No space left on device");
  }
  ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
  const v1::ResultRow row = client().Rows(job).at(0);
  EXPECT_EQ(row.result().outcome(), "lost");
  EXPECT_EQ(row.result().status(), "no_space");
  EXPECT_EQ(row.result().blame(), "infrastructure");
  EXPECT_THAT(row.result().error(), HasSubstr("No space left on device"));
  EXPECT_THAT(AttemptStates(row.experiment().id()),
              ElementsAre("requeued", "requeued", "superseded"));
}

// A worker of before says so itself, and for good.
TEST_F(DispatcherTest, ALostResultOfAnOlderWorkerCountsAsItIs) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  worker->Finish(AttemptOf(worker->NextLease()), "lost");
  ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
  EXPECT_EQ(client().Rows(job).at(0).result().outcome(), "lost");
}

TEST_F(DispatcherTest, AfterARestartARetryStillAvoidsWhereItFailed) {
  options_.dispatcher.backoff.first_ns = 2 * kNsPerSecond;
  StartServer();
  auto worker = Join(HelloOf("a"));
  client().Submit(RequestFor({kModel}));
  const v1::Lease lease = worker->NextLease();
  worker->Start(AttemptOf(lease));
  worker->Fail(AttemptOf(lease), "no_space", "No space left on device");
  const int64_t experiment = lease.experiments(0).id();
  ASSERT_TRUE(Eventually([&] { return AttemptStates(experiment).at(0) == "requeued"; }));
  worker.reset();
  server_.reset();
  StartServer();
  // The one that failed is back first.
  worker = Join(HelloOf("a"));
  ASSERT_EQ(worker->Welcome().verdict(), v1::Welcome::OK);
  auto other = Join(HelloOf("b"));
  EXPECT_EQ(other->NextLease().experiments(0).id(), experiment);
  for (const v1::CoordinatorMessage& heard : worker->Heard()) EXPECT_FALSE(heard.has_lease());
}

TEST_F(DispatcherTest, ASecondWorkerWithTheSameIdIsRefused) {
  StartServer();
  auto first = Join(HelloOf("a", 1));
  EXPECT_EQ(first->Welcome().verdict(), v1::Welcome::OK);
  auto second = Join(HelloOf("a", 2));
  const v1::Welcome welcome = second->Welcome();
  EXPECT_EQ(welcome.verdict(), v1::Welcome::REFUSED);
  EXPECT_THAT(welcome.reason(), HasSubstr("--state-dir"));
  EXPECT_TRUE(second->Ended());
  EXPECT_EQ(client().Workers().size(), 1u);
  client().Submit(RequestFor({kModel}));
  EXPECT_EQ(first->NextLease().experiments_size(), 1);
}

TEST_F(DispatcherTest, ANewStreamOfTheSameProcessReplacesTheOldOne) {
  StartServer();
  auto old_stream = Join(HelloOf("a", 1));
  EXPECT_EQ(old_stream->Welcome().verdict(), v1::Welcome::OK);
  auto new_stream = Join(HelloOf("a", 1));
  EXPECT_EQ(new_stream->Welcome().verdict(), v1::Welcome::OK);
  EXPECT_TRUE(old_stream->Ended());
  client().Submit(RequestFor({kModel}));
  EXPECT_EQ(new_stream->NextLease().experiments_size(), 1);
}

TEST_F(DispatcherTest, ASilentStreamIsEndedAndItsLeaseLivesOn) {
  options_.dispatcher.beat_interval_ns = 50 * kNsPerMs;
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::Lease lease = worker->NextLease();
  EXPECT_TRUE(worker->Ended());
  v1::Hello hello = HelloOf("a");
  Hold(&hello, lease);
  worker = Join(hello);
  worker->Finish(AttemptOf(lease));
  EXPECT_TRUE(worker->Acknowledged(AttemptOf(lease)));
  EXPECT_EQ(client().Rows(job).at(0).lease(), lease.epoch());
}

TEST_F(DispatcherTest, CancellingStopsWhatRunsAndConcludesTheRest) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel, "repvgg_a2"})).job();
  const v1::Lease lease = worker->NextLease();
  worker->Start(AttemptOf(lease));
  grpc::ClientContext context;
  v1::CancelJobRequest request;
  request.set_job(job);
  request.set_reason("wrong branch");
  v1::Job reply;
  const grpc::Status status = client().stub().CancelJob(&context, request, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.state(), "cancelled");
  EXPECT_EQ(reply.coverage().cancelled(), 2);
  const auto revoke = worker->Next([](const auto& m) { return m.has_revoke(); });
  ASSERT_TRUE(revoke.has_value());
  EXPECT_EQ(revoke->revoke().epoch(), lease.epoch());
  for (const v1::ResultRow& row : client().Rows(job)) {
    EXPECT_EQ(row.result().outcome(), "cancelled");
    EXPECT_EQ(row.result().error(), "wrong branch");
  }
  worker->Finish(AttemptOf(lease));  // too late: kept, not counted
  EXPECT_TRUE(worker->Acknowledged(AttemptOf(lease)));
  EXPECT_EQ(client().Job(job).coverage().passed(), 0);
}

TEST_F(DispatcherTest, AResultOfAnotherDatabaseIsAcknowledgedAndDropped) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  v1::AttemptId attempt;
  attempt.set_experiment(77);
  attempt.set_lease(99);
  worker->Finish(attempt);
  EXPECT_TRUE(worker->Acknowledged(attempt));
}

}  // namespace
}  // namespace dynbench
