// The coordinator's process in a simulation: the real dispatcher with the real scheduler and store,
// on simulated time. Killing it loses its memory and what was not committed; the store stays.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/store/store.h"
#include "common/store/writes.h"
#include "coordinator/session/change_feed.h"
#include "coordinator/session/dispatcher.h"
#include "coordinator/session/predictions.h"
#include "tests/simulation/network.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/world.h"
#include "tests/simulation/writer.h"

namespace dynbench::simulation {

class Coordinator {
 public:
  Coordinator(World* world, const Scenario* scenario, store::Database* db, Oracle* oracle);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  void Start();
  // At once, wherever it is: nothing that it does from now on has an effect. `silent`: its host is
  // gone too, and workers hear nothing.
  void Kill(bool silent);
  // As SIGTERM does: announces it, commits what was handed in, ends. `then` follows.
  void Stop(std::function<void()> then);
  void Pause(int64_t ns);  // SIGSTOP and SIGCONT

  bool up() const { return process_ != nullptr && !process_->dead && !stopping_; }
  // Another number for each start.
  int64_t incarnation() const { return incarnation_; }
  Disk* disk() { return &disk_; }

  // A worker dials. Null: refused, nothing listens.
  std::shared_ptr<Connection> Dial(Cable* cable, int worker,
                                   std::function<void(const v1::CoordinatorMessage&)> heard,
                                   std::function<void()> ended);

  // As the control API does it. `done` is never called when the process dies before.
  void Submit(const store::NewJob& job, std::function<void(absl::StatusOr<JobId>)> done);
  void Cancel(JobId job, std::function<void(const absl::Status&)> done);
  void FollowLog(ExperimentId experiment);
  // What operators do; `done` hears whether it was.
  void Drain(int worker, int64_t deadline_ms);
  void Quarantine(int worker, int slot);
  void Release(int worker, std::optional<int> slot, std::function<void(bool)> done);
  void BuildEnvironment(const std::string& name);
  // Its folder of objects, which outlives it. A worker asks and sends while it is up.
  std::set<std::string>* objects() { return &objects_; }
  // Environments whose order was answered: what was promised to somebody.
  const std::set<std::string>& environments() const { return environments_; }
  // Checks what watchers of the job are told, until it ends or the process does.
  void Watch(JobId job);

 private:
  class Link;

  void Destroy();
  void Heard(int64_t number, const v1::WorkerMessage& message);
  void CheckChange(JobId job);

  World* const world_;
  store::Database* const db_;
  Oracle* const oracle_;
  Disk disk_;
  std::set<std::string> objects_, environments_;
  int64_t incarnation_ = 0;
  bool stopping_ = false;
  int64_t turns_ = 0;
  std::shared_ptr<Process> process_;
  // By number: an order by address would be another one in each run.
  std::map<int64_t, std::shared_ptr<Link>> links_;
  int64_t last_link_ = 0;
  std::map<JobId, std::shared_ptr<session::ChangeFeed::Subscription>> watched_;
  // In the order in which they need each other.
  std::unique_ptr<session::ChangeFeed> feed_;
  std::unique_ptr<session::Predictions> predictions_;
  std::unique_ptr<SimulatedWriter> writer_;
  std::unique_ptr<session::Dispatcher> dispatcher_;
};

}  // namespace dynbench::simulation
