#include "tests/simulation/coordinator.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "common/base/status.h"
#include "common/plan/recipe.h"
#include "common/store/queries.h"
#include "coordinator/session/rows.h"
#include "proto/dynbench/convert.h"

namespace dynbench::simulation {
namespace {

// The scheduler's own invariants cost as much as a hundred steps, so they are checked now and then;
// a debug build checks those of a small fleet after every step.
constexpr int64_t kTurnsBetweenChecks = 64;
constexpr int64_t kStopNs = 300 * kNsPerMs;  // for what was said last to leave

class Follower final : public session::LogFollower {
 public:
  void Bytes(const std::string&) override {}
  void End() override {}
};

}  // namespace

// A worker's stream as the dispatcher sees it.
class Coordinator::Link final : public session::WorkerLink {
 public:
  Link(Coordinator* coordinator, std::shared_ptr<Process> process,
       std::shared_ptr<Connection> connection, int worker)
      : coordinator_(coordinator),
        process_(std::move(process)),
        connection_(std::move(connection)),
        number_(worker) {}

  void Send(v1::CoordinatorMessage message) override {
    if (process_->dead || closed()) return;
    Judge(message);
    connection_->SendDown(std::move(message));
  }
  void Close(const std::string&) override {
    if (!process_->dead) connection_->End(Side::kCoordinator, /*flush=*/true);
  }
  void Abort() override {
    if (!process_->dead) connection_->End(Side::kCoordinator, /*flush=*/false);
  }
  bool closed() const override { return connection_->over(Side::kCoordinator); }
  void Die(bool silent) { connection_->Die(Side::kCoordinator, silent); }

  WorkerId worker;  // set by Hello

 private:
  void Judge(const v1::CoordinatorMessage& message) {
    Oracle* oracle = coordinator_->oracle_;
    if (message.has_lease()) {
      std::vector<ExperimentId> experiments;
      for (const auto& e : message.lease().experiments()) experiments.emplace_back(e.id());
      oracle->LeaseSent(number_, worker, message.lease().slot(),
                        LeaseEpoch(message.lease().epoch()), experiments);
    } else if (message.has_acknowledged()) {
      oracle->AcknowledgementSent(number_, proto::FromProto(message.acknowledged().attempt()));
      for (const v1::AttemptId& attempt : message.acknowledged().more()) {
        oracle->AcknowledgementSent(number_, proto::FromProto(attempt));
      }
    } else if (message.has_revoke()) {
      coordinator_->world_->Note(
          "revoke sent", number_,
          message.revoke().experiments_size() > 0 ? message.revoke().experiments(0) : 0,
          message.revoke().epoch());
    }
  }

  Coordinator* const coordinator_;
  const std::shared_ptr<Process> process_;
  const std::shared_ptr<Connection> connection_;
  const int number_;
};

Coordinator::Coordinator(World* world, const Scenario* scenario, store::Database* db,
                         Oracle* oracle)
    : world_(world), db_(db), oracle_(oracle) {
  disk_.commit_ms = scenario->commit_ms;
}

Coordinator::~Coordinator() {
  if (process_ != nullptr) process_->dead = true;
  Destroy();
}

void Coordinator::Start() {
  CHECK(dispatcher_ == nullptr);
  world_->Note("coordinator starts", -1);
  ++incarnation_;
  stopping_ = false;
  process_ = std::make_shared<Process>();
  feed_ = std::make_unique<session::ChangeFeed>();
  predictions_ = std::make_unique<session::Predictions>();
  writer_ = std::make_unique<SimulatedWriter>(world_, process_, &disk_, db_, oracle_);
  auto loop = std::make_unique<SimulatedEventLoop>(world_, process_);
  loop->SetAfterTurn([this] {
    if (++turns_ % kTurnsBetweenChecks == 0) dispatcher_->CheckInvariants();
  });
  dispatcher_ = std::make_unique<session::Dispatcher>(session::DispatcherOptions(), writer_.get(),
                                                      feed_.get(), predictions_.get(), nullptr,
                                                      std::move(loop));
  const absl::Status started = dispatcher_->Start(*db_);
  if (!started.ok()) world_->Violate(absl::StrCat("no start: ", started.ToString()));
}

void Coordinator::Kill(bool silent) {
  if (process_ == nullptr || process_->dead) return;
  world_->Note("coordinator is killed", -1);
  process_->dead = true;
  for (const auto& [number, link] : std::exchange(links_, {})) link->Die(silent);
  // It may be the one that runs now; what it still does has no effect.
  world_->timeline.At(world_->now(), [this, killed = process_] {
    if (killed == process_) Destroy();
  });
}

void Coordinator::Stop(std::function<void()> then) {
  if (!up()) return;
  world_->Note("coordinator is told to stop", -1);
  stopping_ = true;
  dispatcher_->AnnounceRestart(2'000);
  world_->timeline.After(kStopNs, [this, process = process_, then = std::move(then)] {
    if (process->dead || process != process_) return;
    dispatcher_->Stop();
    writer_->Flush();
    Kill(/*silent=*/false);
    then();
  });
}

void Coordinator::Pause(int64_t ns) {
  if (!up()) return;
  world_->Note("coordinator is stopped for a while", -1);
  process_->stopped_from = world_->now();
  process_->stopped_until = std::max(process_->stopped_until, world_->now() + ns);
}

void Coordinator::Destroy() {
  for (const auto& [job, subscription] : std::exchange(watched_, {})) {
    feed_->Unsubscribe(subscription);
  }
  links_.clear();
  dispatcher_.reset();
  writer_.reset();
  predictions_.reset();
  feed_.reset();
}

std::shared_ptr<Connection> Coordinator::Dial(
    Cable* cable, int worker, std::function<void(const v1::CoordinatorMessage&)> heard,
    std::function<void()> ended) {
  if (!up()) return nullptr;
  auto connection = std::make_shared<Connection>(world_, cable, worker);
  const int64_t number = ++last_link_;
  links_[number] = std::make_shared<Link>(this, process_, connection, worker);
  Connection::Ends ends;
  ends.to_coordinator = [this, number, process = process_](const v1::WorkerMessage& message) {
    if (!process->dead) Heard(number, message);
  };
  ends.coordinator_ended = [this, number, process = process_] {
    const auto found = links_.find(number);
    if (process->dead || found == links_.end()) return;
    if (found->second->worker) dispatcher_->Left(found->second, found->second->worker);
    links_.erase(found);
  };
  ends.to_worker = std::move(heard);
  ends.worker_ended = std::move(ended);
  connection->SetEnds(std::move(ends));
  return connection;
}

void Coordinator::Heard(int64_t number, const v1::WorkerMessage& message) {
  const auto found = links_.find(number);
  if (found == links_.end()) return;
  const std::shared_ptr<Link>& link = found->second;
  if (link->worker) return dispatcher_->Message(link, link->worker, message);
  CHECK(message.has_hello());
  v1::Welcome welcome;
  welcome.set_verdict(v1::Welcome::OK);
  welcome.set_beat_interval_ms(dispatcher_->options().beat_interval_ns / kNsPerMs);
  welcome.set_lease_ttl_ms(dispatcher_->options().lease_ttl_ns / kNsPerMs);
  link->worker = WorkerId(message.hello().worker_id());
  dispatcher_->Hello(link, message.hello(), std::move(welcome));
}

void Coordinator::Submit(const store::NewJob& new_job,
                         std::function<void(absl::StatusOr<JobId>)> done) {
  struct Insertion {
    store::NewJob job;
    store::InsertedJob inserted;
    session::AddedJob added;
  };
  auto insertion = std::make_shared<Insertion>();
  insertion->job = new_job;
  insertion->added.TakeFrom(new_job.request);
  for (const plan::Experiment& e : new_job.plan.experiments) {
    insertion->added.Append(e, *predictions_);
  }
  const auto change = [insertion](store::Database& db) -> absl::Status {
    ASSIGN_OR_RETURN(insertion->inserted, store::InsertJob(db, insertion->job));
    ASSIGN_OR_RETURN(const store::JobRow row, store::GetJob(db, insertion->inserted.job));
    insertion->added.job = session::ToProto(row);
    return absl::OkStatus();
  };
  writer_->Apply(change, [this, insertion, done = std::move(done)](const absl::Status& status) {
    if (!status.ok()) return done(status);
    const JobId id = insertion->inserted.job;
    if (insertion->inserted.existed) return done(id);
    for (size_t i = 0; i < insertion->inserted.experiments.size(); ++i) {
      insertion->added.Identify(i, id, insertion->inserted.experiments[i]);
    }
    dispatcher_->AddJob(std::move(insertion->added), [done, id] { done(id); });
  });
}

void Coordinator::Cancel(JobId job, std::function<void(const absl::Status&)> done) {
  dispatcher_->CancelJob(job, "simulated", std::move(done));
}

void Coordinator::FollowLog(ExperimentId experiment) {
  if (!up()) return;
  dispatcher_->FollowLog(experiment, std::make_shared<Follower>());
}

void Coordinator::Drain(int worker, int64_t deadline_ms) {
  if (!up()) return;
  world_->Note("operator drains", worker);
  dispatcher_->DrainWorker(absl::StrCat("w", worker), deadline_ms, "simulated",
                           [](const absl::StatusOr<v1::Worker>&) {});
}

void Coordinator::Quarantine(int worker, int slot) {
  if (!up()) return;
  world_->Note("operator quarantines", worker);
  dispatcher_->QuarantineWorker(absl::StrCat("w", worker), slot, "simulated",
                                [](const absl::StatusOr<v1::Worker>&) {});
}

void Coordinator::BuildEnvironment(const std::string& name) {
  if (!up()) return;
  plan::Recipe recipe;
  recipe.name = name;
  recipe.python = "3.11";
  recipe.requirements = {"torch==2.14.1"};
  dispatcher_->BuildEnvironment(plan::RecipeToJson(recipe), "",
                                [this](const absl::StatusOr<v1::FleetEnvironment>& answer) {
                                  if (answer.ok()) environments_.insert(answer->id());
                                });
}

void Coordinator::Release(int worker, std::optional<int> slot, std::function<void(bool)> done) {
  if (!up()) return done(false);
  world_->Note("operator releases", worker);
  dispatcher_->ReleaseWorker(
      absl::StrCat("w", worker), slot,
      [done = std::move(done)](const absl::StatusOr<v1::Worker>& answer) { done(answer.ok()); });
}

void Coordinator::Watch(JobId job) {
  if (watched_.count(job) > 0) return;
  watched_[job] = feed_->Subscribe(job, /*rows=*/true, [this, job, process = process_] {
    world_->timeline.At(world_->now(), [this, job, process] {
      if (!process->dead) CheckChange(job);
    });
  });
}

void Coordinator::CheckChange(JobId job) {
  const auto watched = watched_.find(job);
  if (watched == watched_.end()) return;
  const auto change = watched->second->Take();
  if (!change || !change->job) return;
  const v1::Coverage& c = change->job->coverage();
  if (c.planned() != c.passed() + c.failed() + c.skipped() + c.lost() + c.cancelled() +
                         c.waiting() + c.running()) {
    world_->Violate(
        absl::StrCat("watchers of job ", job.value, " were told ", c.ShortDebugString()));
  }
}

}  // namespace dynbench::simulation
