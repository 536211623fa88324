// Method: a real coordinator in this process and a worker that follows a script over real gRPC; a
// job of pairs is measured with made latencies, also across a restart of the coordinator.
#include "common/plan/pairs.h"

#include <set>
#include <string>

#include "common/store/noise_floors.h"
#include "common/store/statement.h"
#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

using ::testing::HasSubstr;

constexpr char kModel[] = "mobilenetv2_100";

plan::Request PairOf(const std::string& base, const std::string& fresh) {
  plan::Request request = RequestFor({kModel});
  request.base = base;
  request.fresh = fresh;
  return request;
}

v1::Hello HelloWithBoth() {
  v1::Hello hello = HelloOf("a");
  v1::Environment& nightly = *hello.add_environments();
  nightly = hello.environments(0);
  nightly.set_name("nightly");
  nightly.set_hash("another");
  return hello;
}

class PairsTest : public CoordinatorTest {
 protected:
  // Answers a whole round; new's compiled side takes `slower` times as long.
  void Measure(ScriptedWorker* worker, const v1::Lease& lease, double slower) {
    ASSERT_EQ(lease.experiments_size(), 2);
    std::set<std::string> sides;
    for (int i = 0; i < 2; ++i) {
      const auto experiment = plan::ExperimentFromJson(lease.experiments(i).json());
      ASSERT_TRUE(experiment.ok()) << experiment.status();
      sides.insert(experiment->side + " " + experiment->environment);
      zygotes_.insert(experiment->zygote);
      plan::Result result;
      result.outcome = plan::Outcome::kPassed;
      result.status = "measured";
      result.metrics.eager_latency_ms = 20;
      result.metrics.abs_latency_ms = experiment->side == "new" ? 10 * slower : 10;
      v1::WorkerMessage message;
      v1::AttemptFinished& finished = *message.mutable_finished();
      *finished.mutable_attempt() = AttemptOf(lease, i);
      finished.set_started_unix_ms(1000);
      finished.set_finished_unix_ms(3000);
      *finished.mutable_result() = proto::ToProto(result);
      worker->Start(AttemptOf(lease, i));
      worker->Send(message);
      ASSERT_TRUE(worker->Acknowledged(AttemptOf(lease, i)));
    }
    EXPECT_EQ(sides, (std::set<std::string>{"base default", "new " + fresh_}));
  }
  bool Finished(int64_t job) { return client().Job(job).state() == "finished"; }

  std::set<int> zygotes_;
  std::string fresh_ = "nightly";
};

TEST_F(PairsTest, RoundsAreLeasedWholeUntilThePairIsDecidedAndTheRestIsSkipped) {
  StartServer();
  auto worker = Join(HelloWithBoth());
  const auto reply = client().Submit(PairOf("default", "nightly"));
  const int planned = 2 * (plan::Request().rounds_max + plan::kSpareRounds);
  EXPECT_EQ(reply.planned(), planned);
  int rounds = 0;
  for (; rounds < 12; ++rounds) {
    Measure(worker.get(), worker->NextLease(), 1.3);
    if (HasFatalFailure()) return;
    // The next round, or the end.
    bool more = false;
    ASSERT_TRUE(Eventually([&] {
      for (const auto& m : worker->Heard()) more = more || m.has_lease();
      return more || Finished(reply.job());
    }));
    if (!more) break;
  }
  ++rounds;
  EXPECT_GE(rounds, 3);
  EXPECT_LT(rounds, 12) << "a change of 30 % is seen soon";
  EXPECT_EQ(zygotes_.size(), 2U);
  const v1::Coverage coverage = client().Job(reply.job()).coverage();
  EXPECT_EQ(coverage.passed(), 2 * rounds);
  EXPECT_EQ(coverage.skipped(), planned - 2 * rounds);
  const v1::ResultRow last = client().Rows(reply.job()).back();
  EXPECT_THAT(last.result().error(), HasSubstr("pair decided after " + std::to_string(rounds) +
                                               " rounds: changed by +30%"));
}

TEST_F(PairsTest, ARestartGoesOnWhereThePairWas) {
  StartServer();
  v1::Hello hello = HelloWithBoth();
  auto worker = Join(hello);
  const auto reply = client().Submit(PairOf("default", "nightly"));
  Measure(worker.get(), worker->NextLease(), 1);
  const v1::Lease second = worker->NextLease();
  worker->Drop();
  server_.reset();
  StartServer();
  Hold(&hello, second);
  worker = Join(hello);
  worker->Welcome();
  Measure(worker.get(), second, 1);
  const v1::Lease third = worker->NextLease();
  const auto experiment = plan::ExperimentFromJson(third.experiments(0).json());
  ASSERT_TRUE(experiment.ok());
  EXPECT_EQ(experiment->round, 3);
}

TEST_F(PairsTest, APairWhoseEnvironmentsNoWorkerHasTogetherFailsWithWhatIsMissing) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  plan::Request request = PairOf("default", "nigtly");
  request.unplaceable_grace_s = 0;
  const auto reply = client().Submit(request);
  EXPECT_THAT(reply.warnings(), ::testing::Contains(HasSubstr("nigtly")));
  ASSERT_TRUE(Eventually([&] { return Finished(reply.job()); }));
  for (const v1::ResultRow& row : client().Rows(reply.job())) {
    EXPECT_EQ(row.result().status(), "unplaceable");
    EXPECT_THAT(row.result().error(), HasSubstr("does not have environment nigtly"));
  }
}

TEST_F(PairsTest, ACancelledPairJobIsWholeToo) {
  StartServer();
  auto worker = Join(HelloWithBoth());
  const auto reply = client().Submit(PairOf("default", "nightly"));
  worker->NextLease();
  grpc::ClientContext context;
  Client::Arm(context);
  v1::CancelJobRequest cancel;
  cancel.set_job(reply.job());
  cancel.set_reason("enough");
  v1::Job job;
  const grpc::Status status = client().stub().CancelJob(&context, cancel, &job);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_TRUE(Eventually(
      [&] { return client().Job(reply.job()).coverage().cancelled() == reply.planned(); }));
}

TEST_F(PairsTest, ACalibrationThatEndedUnlearnedIsLearnedFromAtTheNextStart) {
  fresh_ = "default";
  StartServer();
  auto worker = Join(HelloWithBoth());
  plan::Request request = PairOf("default", "default");
  request.rounds_min = request.rounds_max = 3;
  const auto reply = client().Submit(request);
  for (int round = 0; round < 3; ++round) {
    Measure(worker.get(), worker->NextLease(), 1.01);
    if (HasFatalFailure()) return;
  }
  ASSERT_TRUE(Eventually([&] { return Finished(reply.job()); }));
  const std::string database = server_->database();
  const auto floors = [&] {
    const auto reader = store::Database::Open(database, store::Access::kReadOnly);
    EXPECT_TRUE(reader.ok()) << reader.status();
    const auto rows = store::ListNoiseFloors(**reader, JobId(reply.job()));
    return rows.ok() ? rows->size() : 0;
  };
  ASSERT_TRUE(Eventually([&] { return floors() > 0; }));
  const size_t learned = floors();
  worker->Drop();
  server_.reset();
  {  // As if it had been killed between the last result and the floors.
    const auto writer = store::Database::Open(database, store::Access::kReadWrite);
    ASSERT_TRUE(writer.ok()) << writer.status();
    store::Statement forget(**writer, "DELETE FROM noise_floor");
    ASSERT_TRUE(forget.Run().ok());
  }
  EXPECT_EQ(floors(), 0u);
  StartServer();
  EXPECT_TRUE(Eventually([&] { return floors() == learned; }));
}

}  // namespace
}  // namespace dynbench
