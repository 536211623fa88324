// A worker's process in a simulation. It does what docs/protocol.md asks of a worker, as
// worker/agent does: results stay in its spool until they are acknowledged, its journal knows what
// ran, a lease is held through lost streams, and it dials again for ever. Its experiments last as
// long as their dice say. Thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "dynbench/v1/session.pb.h"
#include "tests/simulation/coordinator.h"
#include "tests/simulation/network.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/world.h"

namespace dynbench::simulation {

class Worker {
 public:
  // `nightly`: it has that environment too.
  Worker(World* world, const Scenario* scenario, Coordinator* coordinator, Oracle* oracle,
         int number, int slots, bool nightly);

  void Boot();
  // kill -9: what ran dies with it; spool and journal stay. `silent`: with the whole host.
  void Kill(bool silent);
  void Stop(std::function<void()> then);  // SIGTERM: gives everything back, then ends
  void Pause(int64_t ns);
  // Results cannot be written, and no work is taken, until then.
  void FillDisk(int64_t ns);
  void CutStream(bool silent);
  // Says what it offers again; for the kill matrix.
  void TellSlots();
  void TellEnvironments();
  void TellActivity(int slot);
  // Gives back what runs on its first slot.
  void ReturnOne();

  bool up() const { return up_; }
  bool settled() const { return up_ && spool_.empty(); }
  // One that was made for the fleet.
  bool HasEnvironment(const std::string& id) const { return made_.count(id) > 0; }
  Cable* cable() { return &cable_; }
  int number() const { return number_; }

 private:
  struct Run {
    bool dropped = false;   // revoked
    std::string give_back;  // why
  };
  struct Slot {
    std::deque<AttemptId> queue;
    std::map<AttemptId, Run> running;
  };
  struct Spooled {
    v1::AttemptFinished finished;
    bool durable = true;
  };

  // Runs later, unless the process has ended; while it is stopped, after it.
  void After(int64_t ns, std::function<void()> task);
  void Guarded(int64_t incarnation, const std::function<void()>& task);

  void Dial();
  void Lost();
  void CheckSilence(int64_t session);
  void Beat(int64_t session);
  void Send(v1::WorkerMessage message);
  v1::WorkerMessage MakeHello() const;
  v1::Slot Describe(int index) const;

  void OnMessage(const v1::CoordinatorMessage& message);
  void OnWelcome();
  void OnLease(const v1::Lease& lease);
  void OnRevoke(const v1::Revoke& revoke);
  void OnDrain(const v1::Drain& drain);
  void OnEnvironment(const v1::EnvironmentOrder& order);
  void SendObjects(const v1::EnvironmentOrder& order);
  void TellEnvironment(v1::EnvironmentReport report);
  void OnPreflight(int slot);
  void GiveBackAll(const std::string& reason);
  void StartNext(int slot);
  void Begin(int slot, const AttemptId& attempt);
  void Finish(int slot, const AttemptId& attempt);
  void Report(int slot, const AttemptId& attempt);
  // What waits goes back, and nothing is taken for a while.
  void HoldForSpace();
  // `failed`: the slot whose infrastructure is to blame; `status`: the word for it.
  void Return(const AttemptId& attempt, const std::string& reason, int failed = -1,
              const std::string& status = {});
  void Forget(int slot, const AttemptId& attempt);
  // A number that is the same whenever this is asked of the attempt (salted).
  Random Dice(const AttemptId& attempt) const;

  World* const world_;
  const Scenario* const scenario_;
  Coordinator* const coordinator_;
  Oracle* const oracle_;
  const int number_;
  const WorkerId id_;
  const bool nightly_;
  Cable cable_;

  // On disk.
  std::map<std::string, std::string> made_;  // environments on its disk: id, name
  std::map<AttemptId, Spooled> spool_;
  std::set<AttemptId> journal_, died_;
  MonotonicTime disk_full_until_;

  // In memory.
  bool up_ = false;
  bool draining_ = false;  // it is stopping
  bool drained_ = false;   // by an operator
  bool disk_low_ = false;
  int64_t incarnation_ = 0;
  int64_t process_start_ms_ = 0;
  MonotonicTime stopped_until_;
  MonotonicTime held_until_;  // an experiment found the disk full
  std::vector<Slot> slots_;
  std::map<AttemptId, v1::AttemptReturned> untold_;

  // The stream.
  std::shared_ptr<Connection> connection_;
  int64_t session_ = 0;
  bool welcomed_ = false;
  int failures_ = 0;
  MonotonicTime last_heard_;
};

}  // namespace dynbench::simulation
