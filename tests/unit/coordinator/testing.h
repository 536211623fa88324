// What the tests of the coordinator share: a real server in this process on port 0, with a real
// database in a temporary folder, clients that speak real gRPC, and a worker that does what a test
// tells it. Nothing sleeps: everything waits for a condition, with a deadline that is a failure.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/plan/experiment.h"
#include "common/plan/request.h"
#include "coordinator/server.h"
#include "dynbench/v1/control.grpc.pb.h"
#include "dynbench/v1/session.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/dynbench/convert.h"

namespace dynbench {

inline constexpr std::chrono::seconds kDeadline{60};  // under a sanitizer and beside other tests

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dynbench-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline ServerOptions TestOptions(const TempDir& dir) {
  ServerOptions options;
  options.listen = "127.0.0.1:0";
  options.state_dir = dir.path() + "/state";
  options.suites_dir = DYNBENCH_SOURCE_SUITES;
  options.dispatcher.beat_interval_ns = 60 * kNsPerSecond;  // scripted workers beat when told
  options.dispatcher.duplicate_grace_ns = 50 * kNsPerMs;
  return options;
}

// One or more models of the TIMM suite, performance only.
inline plan::Request RequestFor(std::vector<std::string> models) {
  plan::Request request;
  request.suite = "timm";
  request.models = std::move(models);
  request.tests = {plan::Test::kPerformance};
  return request;
}

class Client {
 public:
  explicit Client(const std::string& address)
      : stub_(v1::Control::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {}

  v1::Control::Stub& stub() { return *stub_; }

  static void Arm(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  }

  grpc::Status TrySubmit(const plan::Request& request, v1::SubmitReply* reply,
                         const std::string& key = "") {
    grpc::ClientContext context;
    Arm(context);
    v1::SubmitRequest message;
    message.set_request_json(plan::ToJson(request));
    message.set_idempotency_key(key);
    return stub_->Submit(&context, message, reply);
  }
  v1::SubmitReply Submit(const plan::Request& request, const std::string& key = "") {
    v1::SubmitReply reply;
    const grpc::Status status = TrySubmit(request, &reply, key);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }

  template <typename Message>
  static grpc::Status Drain(grpc::ClientReader<Message>& reader, std::vector<Message>* messages) {
    Message message;
    while (reader.Read(&message)) messages->push_back(message);
    return reader.Finish();
  }

  std::vector<v1::Job> Jobs(int64_t job = 0) {
    grpc::ClientContext context;
    Arm(context);
    v1::ListJobsRequest request;
    request.set_job(job);
    std::vector<v1::Job> jobs;
    const grpc::Status status = Drain(*stub_->ListJobs(&context, request), &jobs);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return jobs;
  }
  v1::Job Job(int64_t job) {
    const std::vector<v1::Job> jobs = Jobs(job);
    return jobs.empty() ? v1::Job() : jobs.front();
  }

  std::vector<v1::ResultPage> Pages(int64_t job) {
    grpc::ClientContext context;
    Arm(context);
    v1::ListResultsRequest request;
    request.set_job(job);
    std::vector<v1::ResultPage> pages;
    const grpc::Status status = Drain(*stub_->ListResults(&context, request), &pages);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return pages;
  }
  std::vector<v1::ResultRow> Rows(int64_t job) {
    std::vector<v1::ResultRow> rows;
    for (const v1::ResultPage& page : Pages(job)) {
      rows.insert(rows.end(), page.rows().begin(), page.rows().end());
    }
    return rows;
  }

  v1::ExperimentDetail Experiment(int64_t id) {
    grpc::ClientContext context;
    Arm(context);
    v1::GetExperimentRequest request;
    request.set_experiment(id);
    v1::ExperimentDetail detail;
    const grpc::Status status = stub_->GetExperiment(&context, request, &detail);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return detail;
  }

  std::vector<v1::Worker> Workers() {
    grpc::ClientContext context;
    Arm(context);
    std::vector<v1::Worker> workers;
    EXPECT_TRUE(Drain(*stub_->ListWorkers(&context, {}), &workers).ok());
    return workers;
  }

 private:
  std::unique_ptr<v1::Control::Stub> stub_;
};

// Asks again and again until `condition` holds; false when the deadline passed first.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return false;
}

// A Hello with one CPU slot and the environment "default".
inline v1::Hello HelloOf(const std::string& id, int64_t process_start = 1) {
  v1::Hello hello;
  hello.set_protocol_version(proto::kProtocolVersion);
  hello.set_worker_id(id);
  hello.set_host("host-of-" + id);
  hello.set_version("test");
  hello.set_inventory_json(R"({"arch":"x86_64"})");
  hello.set_process_start_unix_ms(process_start);
  v1::Environment& environment = *hello.add_environments();
  environment.set_name("default");
  environment.set_hash("hash");
  environment.set_torch_version("2.14.1");
  environment.add_devices("cpu");
  v1::Slot& slot = *hello.add_slots();
  slot.set_device("cpu");
  slot.set_accepting(true);
  return hello;
}

// A worker that says what the test says and collects what it hears.
class ScriptedWorker {
 public:
  ScriptedWorker(const std::string& address, const v1::Hello& hello)
      : stub_(v1::WorkerSession::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        stream_(stub_->Connect(&context_)) {
    v1::WorkerMessage message;
    *message.mutable_hello() = hello;
    stream_->Write(message);
    reader_ = std::thread([this] { Read(); });
  }
  ~ScriptedWorker() { Drop(); }

  // The stream ends, as when the network breaks.
  void Drop() {
    context_.TryCancel();
    if (reader_.joinable()) reader_.join();
  }

  void Send(const v1::WorkerMessage& message) { stream_->Write(message); }

  // The next message that `wanted` picks, which is taken out; nullopt after the deadline or when
  // the stream has ended without it.
  std::optional<v1::CoordinatorMessage> Next(
      const std::function<bool(const v1::CoordinatorMessage&)>& wanted) {
    std::unique_lock<std::mutex> lock(mu_);
    std::optional<v1::CoordinatorMessage> found;
    changed_.wait_for(lock, kDeadline, [&] {
      for (auto it = heard_.begin(); it != heard_.end(); ++it) {
        if (!wanted(*it)) continue;
        found = *it;
        heard_.erase(it);
        return true;
      }
      return ended_;
    });
    return found;
  }

  v1::Welcome Welcome() {
    const auto message = Next([](const auto& m) { return m.has_welcome(); });
    EXPECT_TRUE(message.has_value()) << "no Welcome";
    return message ? message->welcome() : v1::Welcome();
  }
  v1::Lease NextLease() {
    const auto message = Next([](const auto& m) { return m.has_lease(); });
    EXPECT_TRUE(message.has_value()) << "no Lease";
    return message ? message->lease() : v1::Lease();
  }
  bool Acknowledged(const v1::AttemptId& attempt) {
    const auto same = [&](const v1::AttemptId& other) {
      return other.SerializeAsString() == attempt.SerializeAsString();
    };
    return Next([&](const auto& m) {
             const auto& more = m.acknowledged().more();
             return m.has_acknowledged() && (same(m.acknowledged().attempt()) ||
                                             std::any_of(more.begin(), more.end(), same));
           })
        .has_value();
  }
  // The stream has ended (by itself).
  bool Ended() {
    std::unique_lock<std::mutex> lock(mu_);
    return changed_.wait_for(lock, kDeadline, [&] { return ended_; });
  }
  // What is heard but not taken.
  std::vector<v1::CoordinatorMessage> Heard() {
    std::lock_guard<std::mutex> lock(mu_);
    return {heard_.begin(), heard_.end()};
  }

  void Start(const v1::AttemptId& attempt) {
    v1::WorkerMessage message;
    *message.mutable_started()->mutable_attempt() = attempt;
    message.mutable_started()->set_started_unix_ms(1000);
    Send(message);
  }
  void Phase(const v1::AttemptId& attempt, const std::string& phase) {
    v1::WorkerMessage message;
    *message.mutable_phase()->mutable_attempt() = attempt;
    message.mutable_phase()->set_phase(phase);
    Send(message);
  }
  // Infrastructure ended it while it compiled; `status` is the word for it.
  void Fail(const v1::AttemptId& attempt, const std::string& status, const std::string& error) {
    v1::WorkerMessage message;
    v1::AttemptReturned& returned = *message.mutable_returned();
    *returned.mutable_attempt() = attempt;
    returned.set_reason(status + " in phase compile: " + error);
    returned.set_infrastructure_failure(true);
    returned.set_status(status);
    Send(message);
  }
  void Finish(const v1::AttemptId& attempt, const std::string& outcome = "passed",
              const std::string& log = "") {
    v1::WorkerMessage message;
    v1::AttemptFinished& finished = *message.mutable_finished();
    *finished.mutable_attempt() = attempt;
    finished.set_started_unix_ms(1000);
    finished.set_finished_unix_ms(3000);
    finished.set_log(log);
    plan::Result result;
    result.outcome = *plan::ParseOutcome(outcome);
    result.status = outcome == "passed" ? "measured" : "crash";
    result.blame = outcome == "passed" ? plan::Blame::kNone : plan::Blame::kCompiler;
    result.metrics.speedup = 1.5;
    *finished.mutable_result() = proto::ToProto(result);
    Send(message);
  }
  void Log(const v1::AttemptId& attempt, int64_t offset, const std::string& bytes) {
    v1::WorkerMessage message;
    *message.mutable_log()->mutable_attempt() = attempt;
    message.mutable_log()->set_offset_bytes(offset);
    message.mutable_log()->set_data(bytes);
    Send(message);
  }

 private:
  void Read() {
    v1::CoordinatorMessage message;
    while (stream_->Read(&message)) {
      std::lock_guard<std::mutex> lock(mu_);
      heard_.push_back(message);
      changed_.notify_all();
    }
    stream_->Finish();
    std::lock_guard<std::mutex> lock(mu_);
    ended_ = true;
    changed_.notify_all();
  }

  grpc::ClientContext context_;
  std::unique_ptr<v1::WorkerSession::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::CoordinatorMessage>> stream_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<v1::CoordinatorMessage> heard_;
  bool ended_ = false;
  std::thread reader_;
};

inline v1::AttemptId AttemptOf(const v1::Lease& lease, int index = 0) {
  v1::AttemptId attempt;
  attempt.set_lease(lease.epoch());
  attempt.set_experiment(lease.experiments(index).id());
  return attempt;
}

// Names `lease` as held in a later Hello.
inline void Hold(v1::Hello* hello, const v1::Lease& lease) {
  v1::HeldLease& held = *hello->add_held();
  held.set_epoch(lease.epoch());
  held.set_slot(lease.slot());
  for (const v1::PlannedExperiment& e : lease.experiments()) held.add_experiments(e.id());
}

class CoordinatorTest : public ::testing::Test {
 protected:
  CoordinatorTest() : options_(TestOptions(dir_)) {}

  void StartServer() {
    auto server = Server::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    client_ = std::make_unique<Client>(server_->address());
  }
  Client& client() { return *client_; }
  std::unique_ptr<ScriptedWorker> Join(const v1::Hello& hello) {
    return std::make_unique<ScriptedWorker>(server_->address(), hello);
  }

  TempDir dir_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
};

}  // namespace dynbench
