// Method: a real coordinator in this process, workers that follow a script, and the verbs of an
// operator over real gRPC. What was decided must reach the worker, stop new leases, and outlive a
// reconnection and another coordinator on the same database.
#include "coordinator/control/operations.h"

#include <atomic>
#include <mutex>

#include "common/store/queries.h"
#include "proto/dynbench/spool_file.h"
#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

using ::testing::HasSubstr;

constexpr char kModel[] = "mobilenetv2_100";

class OperationsTest : public CoordinatorTest {
 protected:
  template <typename Request, typename Reply>
  grpc::Status Call(grpc::Status (v1::Control::Stub::*method)(grpc::ClientContext*, const Request&,
                                                              Reply*),
                    const Request& request, Reply* reply) {
    grpc::ClientContext context;
    Client::Arm(context);
    return (client().stub().*method)(&context, request, reply);
  }
  v1::Worker Drain(const std::string& worker, int64_t deadline_ms = 0) {
    v1::DrainWorkerRequest request;
    request.set_worker(worker);
    request.set_deadline_ms(deadline_ms);
    request.set_reason("new kernel");
    v1::Worker reply;
    const auto status = Call(&v1::Control::Stub::DrainWorker, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }
  v1::Worker Release(const std::string& worker) {
    v1::ReleaseWorkerRequest request;
    request.set_worker(worker);
    v1::Worker reply;
    const auto status = Call(&v1::Control::Stub::ReleaseWorker, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }
  grpc::Status Quarantine(const std::string& worker, const std::string& reason, v1::Worker* reply,
                          std::optional<int> slot = std::nullopt) {
    v1::QuarantineWorkerRequest request;
    request.set_worker(worker);
    request.set_reason(reason);
    if (slot) request.set_slot(*slot);
    return Call(&v1::Control::Stub::QuarantineWorker, request, reply);
  }
  std::map<std::string, double> Idle() {
    v1::IdleReport reply;
    const auto status = Call(&v1::Control::Stub::GetIdle, v1::GetIdleRequest(), &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::map<std::string, double> sums;
    for (const v1::IdleSpan& span : reply.spans()) sums[span.reason()] += span.seconds();
    return sums;
  }
  bool HasLease(ScriptedWorker& worker) {
    for (const auto& message : worker.Heard()) {
      if (message.has_lease()) return true;
    }
    return false;
  }
};

TEST_F(OperationsTest, ADrainStopsLeasesUntilTheRelease) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  EXPECT_EQ(worker->Welcome().verdict(), v1::Welcome::OK);
  EXPECT_EQ(Drain("host-of-a", 600'000).state(), "drained");
  const auto drain = worker->Next([](const auto& m) { return m.has_drain(); });
  ASSERT_TRUE(drain);
  EXPECT_EQ(drain->drain().reason(), "new kernel");
  EXPECT_GT(drain->drain().deadline_ms(), 500'000);

  const int64_t job = client().Submit(RequestFor({kModel})).job();
  EXPECT_THAT(client().Job(job).waiting_reasons(),
              ::testing::Contains(HasSubstr("drained: new kernel")));
  EXPECT_FALSE(HasLease(*worker));
  EXPECT_EQ(Release("a").state(), "connected");
  EXPECT_TRUE(worker->Next([](const auto& m) { return m.has_release(); }));
  EXPECT_EQ(worker->NextLease().experiments_size(), 1);
}

TEST_F(OperationsTest, ADrainOutlivesTheConnectionAndTheCoordinator) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  worker->Welcome();
  Drain("a", 600'000);
  worker.reset();
  EXPECT_TRUE(Eventually([&] { return client().Workers().at(0).state() == "away"; }));
  EXPECT_EQ(client().Workers().at(0).reason(), "drained: new kernel");
  server_.reset();
  StartServer();
  worker = Join(HelloOf("a", 2));
  EXPECT_TRUE(worker->Next([](const auto& m) { return m.has_drain(); }));
  EXPECT_EQ(client().Workers().at(0).state(), "drained");
  client().Submit(RequestFor({kModel}));
  EXPECT_FALSE(HasLease(*worker));
  Release("a");
  worker->NextLease();
}

TEST_F(OperationsTest, AWorkerThatMissedItsReleaseIsToldAtItsHello) {
  StartServer();
  v1::Hello hello = HelloOf("a");
  hello.mutable_slots(0)->set_accepting(false);
  hello.mutable_slots(0)->set_state("drained");
  auto worker = Join(hello);
  EXPECT_TRUE(worker->Next([](const auto& m) { return m.has_release(); }));
}

TEST_F(OperationsTest, AQuarantineIsOfOneSlotAndNeedsAReason) {
  StartServer();
  v1::Hello hello = HelloOf("a");
  *hello.add_slots() = hello.slots(0);
  hello.mutable_slots(1)->set_index(1);
  auto worker = Join(hello);
  worker->Welcome();
  v1::Worker reply;
  EXPECT_EQ(Quarantine("a", " ", &reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Quarantine("b", "x", &reply).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Quarantine("a", "x", &reply, 2).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(Quarantine("a", "falls off", &reply, 0).ok());
  EXPECT_EQ(reply.state(), "connected");
  EXPECT_EQ(reply.slots(0).state(), "quarantined");
  EXPECT_EQ(reply.slots(0).reason(), "falls off");
  EXPECT_TRUE(reply.slots(1).accepting());
  client().Submit(RequestFor({kModel}));
  EXPECT_EQ(worker->NextLease().slot(), 1);
  ASSERT_TRUE(Quarantine("a", "all of it", &reply).ok());
  EXPECT_EQ(reply.state(), "quarantined");
}

TEST_F(OperationsTest, AnEnvironmentThatFailsItsCheckIsNotUsedUntilItPasses) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  worker->Welcome();
  v1::WorkerMessage message;
  v1::PreflightReport& report = *message.mutable_preflight();
  report.set_environment("default");
  report.set_failed_check("runner");
  report.set_reason("torch cannot be imported");
  worker->Send(message);
  EXPECT_TRUE(Eventually([&] {
    return client().Workers().at(0).slots(0).reason() ==
           "environment default fails: torch cannot be imported";
  }));
  client().Submit(RequestFor({kModel}));
  EXPECT_FALSE(HasLease(*worker));
  report.set_passed(true);
  worker->Send(message);
  worker->NextLease();
}

TEST_F(OperationsTest, EverySecondOfASlotHasItsReason) {
  StartServer();
  const int64_t start = UnixNow().ms;
  auto worker = Join(HelloOf("a"));
  worker->Welcome();
  EXPECT_TRUE(Eventually([&] { return client().Workers().size() == 1; }));
  v1::WorkerMessage message;
  message.mutable_activity()->set_activity("measuring");
  message.mutable_activity()->set_since_unix_ms(UnixNow().ms);
  worker->Send(message);
  EXPECT_TRUE(
      Eventually([&] { return client().Workers().at(0).slots(0).activity() == "measuring"; }));
  EXPECT_TRUE(Eventually([&] { return UnixNow().ms > start + 100; }));
  worker.reset();
  EXPECT_TRUE(Eventually([&] { return !client().Workers().at(0).connected(); }));
  EXPECT_TRUE(Eventually([&] { return Idle().count("disconnected") > 0; }));
  double sum = 0;
  const auto sums = Idle();
  for (const auto& [reason, seconds] : sums) sum += seconds;
  EXPECT_GT(sums.at("measuring"), 0);
  EXPECT_LE(sum, static_cast<double>(UnixNow().ms - start) / 1000);
  EXPECT_GE(sum, 0.05);
}

TEST_F(OperationsTest, ImportingTheSameResultTwiceChangesNothing) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::AttemptId attempt = AttemptOf(worker->NextLease());
  v1::AttemptFinished finished;
  *finished.mutable_attempt() = attempt;
  finished.set_started_unix_ms(1'000);
  finished.set_finished_unix_ms(3'000);
  plan::Result result;
  result.outcome = plan::Outcome::kPassed;
  result.status = "measured";
  *finished.mutable_result() = proto::ToProto(result);
  const auto import = [&] {
    grpc::ClientContext context;
    Client::Arm(context);
    v1::ImportResultsReply reply;
    auto stream = client().stub().ImportResults(&context, &reply);
    v1::ImportResultsChunk chunk;
    chunk.set_name("1.1.result");
    chunk.set_finished(finished.SerializeAsString());
    stream->Write(chunk);
    chunk.set_name("strange");
    chunk.set_finished("nonsense");
    stream->Write(chunk);
    v1::AttemptFinished foreign = finished;
    foreign.mutable_attempt()->set_lease(999);
    chunk.set_name("foreign");
    chunk.set_finished(foreign.SerializeAsString());
    stream->Write(chunk);
    stream->WritesDone();
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  };
  const v1::ImportResultsReply first = import();
  EXPECT_EQ(first.counted(), 1);
  ASSERT_EQ(first.refused_size(), 2);
  EXPECT_THAT(first.refused(0), HasSubstr("strange: "));
  EXPECT_THAT(first.refused(1), HasSubstr("another coordinator"));
  const v1::ImportResultsReply second = import();
  EXPECT_EQ(second.counted(), 0);
  EXPECT_EQ(second.duplicate(), 1);
  EXPECT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
  const v1::ResultRow row = client().Rows(job).at(0);
  EXPECT_EQ(row.started_unix_ms(), 1'000);
  EXPECT_EQ(row.finished_unix_ms(), 3'000);
}

TEST_F(OperationsTest, ABackupIsADatabase) {
  StartServer();
  client().Submit(RequestFor({kModel}));
  v1::BackupRequest request;
  request.set_path(dir_.path() + "/copy.db");
  v1::BackupReply reply;
  ASSERT_TRUE(Call(&v1::Control::Stub::Backup, request, &reply).ok());
  EXPECT_GT(reply.bytes(), 0);
  EXPECT_EQ(Call(&v1::Control::Stub::Backup, request, &reply).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  auto copy = store::Database::Open(request.path(), store::Access::kReadOnly);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(store::ListJobs(**copy, 0)->size(), 1u);
}

// A stream that keeps what is sent.
class KeptLink : public session::WorkerLink {
 public:
  void Send(v1::CoordinatorMessage message) override {
    std::lock_guard<std::mutex> lock(mu_);
    sent_.push_back(std::move(message));
  }
  void Close(const std::string&) override { closed_ = true; }
  void Abort() override { closed_ = true; }
  bool closed() const override { return closed_; }
  std::vector<v1::CoordinatorMessage> sent() {
    std::lock_guard<std::mutex> lock(mu_);
    return sent_;
  }

 private:
  std::mutex mu_;
  std::vector<v1::CoordinatorMessage> sent_;
  std::atomic<bool> closed_{false};
};

// Without a server: there is one version of the protocol so far, so no worker can be behind it.
TEST(DegradedWorkerTest, ItWorksAndIsShownAsSuch) {
  const TempDir dir;
  const std::string path = dir.path() + "/d.db";
  auto writer = store::Database::Open(path, store::Access::kReadWrite);
  ASSERT_TRUE(writer.ok()) << writer.status();
  // Ends before the dispatcher, which what it still commits tells.
  auto ingest = std::make_unique<ingest::Ingest>(*std::move(writer));
  session::ChangeFeed feed;
  session::Predictions predictions;
  session::Dispatcher dispatcher({}, ingest.get(), &feed, &predictions, nullptr);
  auto reader = store::Database::Open(path, store::Access::kReadOnly);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE(dispatcher.Start(**reader).ok());
  v1::Welcome welcome;
  welcome.set_verdict(v1::Welcome::DEGRADED);
  const auto link = std::make_shared<KeptLink>();
  dispatcher.Hello(link, HelloOf("a"), welcome);
  const auto fleet = dispatcher.ViewFleet();
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  ASSERT_EQ(fleet->workers.size(), 1u);
  EXPECT_TRUE(fleet->workers[0].degraded());
  EXPECT_TRUE(fleet->workers[0].slots(0).accepting());
  ASSERT_FALSE(link->sent().empty());
  EXPECT_EQ(link->sent().front().welcome().verdict(), v1::Welcome::DEGRADED);
  dispatcher.Stop();
  ingest.reset();
}

}  // namespace
}  // namespace dynbench
