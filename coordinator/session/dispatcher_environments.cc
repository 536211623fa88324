// Environments of the fleet, as the dispatcher's thread sees them. See environment_keeper.h.
#include <utility>

#include "common/base/status.h"
#include "coordinator/session/dispatcher.h"

namespace dynbench::session {

EnvironmentKeeper::Services Dispatcher::KeeperServices() {
  return {[this](const WorkerId& id, const v1::EnvironmentOrder& order) {
            ConnectedWorker* worker = fleet_.Find(id);
            if (worker == nullptr) return;
            v1::CoordinatorMessage message;
            *message.mutable_environment() = order;
            worker->link->Send(std::move(message));
          },
          [this](const ingest::Change& change) {
            Commit("an environment of the fleet", change, nullptr);
          },
          [this] { return unix_now(); }};
}

absl::StatusOr<WorkerId> Dispatcher::NamedOrAny(const std::string& worker) {
  if (worker.empty()) return WorkerId();
  ASSIGN_OR_RETURN(const ConnectedWorker* named, FindNamed(worker));
  return named->id;
}

// Answers once everything that was decided is committed.
void Dispatcher::AnswerEnvironment(absl::StatusOr<v1::FleetEnvironment> environment,
                                   EnvironmentAnswer done) {
  if (!environment.ok()) return done(environment.status());
  ingest_->Apply(
      [](store::Database&) { return absl::OkStatus(); },
      [environment = *std::move(environment), done = std::move(done)](const absl::Status& status) {
        if (status.ok()) return done(environment);
        done(status);
      });
}

void Dispatcher::BuildEnvironment(std::string recipe_json, std::string worker,
                                  EnvironmentAnswer done) {
  loop_->Post([this, recipe_json = std::move(recipe_json), worker = std::move(worker),
               done = std::move(done)] {
    const auto named = NamedOrAny(worker);
    if (!named.ok()) return done(named.status());
    AnswerEnvironment(environments_.Build(recipe_json, *named), done);
  });
}

void Dispatcher::DeriveEnvironment(v1::DeriveEnvironmentRequest request, EnvironmentAnswer done) {
  loop_->Post([this, request = std::move(request), done = std::move(done)] {
    const auto named = NamedOrAny(request.worker());
    if (!named.ok()) return done(named.status());
    AnswerEnvironment(environments_.Derive(request, *named), done);
  });
}

void Dispatcher::DropEnvironments(std::vector<std::string> ids, std::string reason,
                                  std::function<void(const absl::Status&)> done) {
  loop_->Post([this, ids = std::move(ids), reason = std::move(reason), done = std::move(done)] {
    environments_.Drop(ids, reason);
    ingest_->Apply([](store::Database&) { return absl::OkStatus(); }, done);
  });
}

}  // namespace dynbench::session
