// The worker: ties session, slots, spool and engine together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/configuration.h"
#include "worker/agent/caches.h"
#include "worker/agent/environment_watch.h"
#include "worker/agent/identity.h"
#include "worker/agent/journal.h"
#include "worker/agent/session_client.h"
#include "worker/agent/slot.h"
#include "worker/agent/spool.h"
#include "worker/agent/spool_writer.h"
#include "worker/agent/work_folders.h"
#include "worker/engine/engine_set.h"
#include "worker/host/inventory.h"
#include "worker/process/event_loop.h"

namespace dynbench::worker {

struct AgentOptions {
  std::string coordinator;
  std::string state_dir;
  std::string environments_dir;
  std::string pool;
  Inventory inventory;
  std::vector<int> cores;  // claimed
  std::vector<SlotShape> slots;
  int64_t disk_low_bytes = int64_t{2} << 30;        // below it no work is taken
  int64_t cache_cap_bytes = int64_t{20} << 30;      // of the store of prepared caches
  int64_t artifacts_cap_bytes = int64_t{10} << 30;  // of all kept artifacts
  int keep_failed = 20;                             // work folders of failed attempts
  std::function<absl::StatusOr<plan::LaunchProfile>(const std::string&)> profile;
};

// An event loop on a thread of its own, ended and joined by the destructor.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.Run(); }) {}
  ~LoopThread() {
    loop_.Stop();
    thread_.join();
  }
  EventLoop* loop() { return &loop_; }

 private:
  EventLoop loop_;
  std::thread thread_;
};

// Runs on the thread that calls Run; Drain belongs to it too (post it).
class Agent {
 public:
  // Takes the state folder (see Identity) and reads what an earlier process left.
  static absl::StatusOr<std::unique_ptr<Agent>> Create(AgentOptions options, EventLoop* loop);
  ~Agent();  // nothing of its process trees is left

  // Connects and works until the loop is stopped.
  void Start();

  // Takes no more work, gives back what is not finished, and stops the loop when nothing runs and
  // what there was to say has been said (or after 20 s). A wanted stop counts against nobody.
  void Drain();

 private:
  Agent(AgentOptions options, EventLoop* loop, Identity identity, Spool spool);

  v1::Hello MakeHello();
  void OnWelcome(const v1::Welcome& welcome);
  void OnMessage(const v1::CoordinatorMessage& message);
  void OnLost(const std::string& reason);
  void OnLease(const v1::Lease& lease);
  void OnRevoke(const v1::Revoke& revoke);
  void OnWatchLog(const v1::WatchLog& watch);
  void OnFinished(const v1::AttemptFinished& finished);
  void SendFinished(const v1::AttemptFinished& finished);
  void SendReturned(const AttemptId& attempt, const std::string& reason, bool infrastructure);
  void SendLogs();
  void SendSlots();
  void Beat();
  void CheckDisk();
  void ContinueDrain(int64_t deadline_ns);
  void WriteWorkerFile(bool connected);
  absl::StatusOr<std::string> FetchModelFile(const std::string& sha256);
  std::set<AttemptId> Running() const;
  Slot* SlotOf(const AttemptId& attempt);

  const AgentOptions options_;
  EventLoop* loop_;
  Identity identity_;
  Spool spool_;
  Journal journal_;
  Caches caches_;
  WorkFolders folders_;
  Artifacts artifacts_;
  const UnixTimeMs started_at_;
  LoopThread preparer_, janitor_, disk_;
  SpoolWriter spool_writer_;
  EngineSet engine_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::unique_ptr<SessionClient> session_;
  std::unique_ptr<EnvironmentWatch> environments_;
  std::map<AttemptId, int64_t> watched_;  // log offset that the coordinator has
  // Returned while the coordinator could not be told.
  std::map<AttemptId, v1::AttemptReturned> untold_;
  std::string not_accepting_;           // why; empty: accepting
  std::string lost_reason_;             // as logged last
  std::optional<bool> told_connected_;  // what worker.json says
  bool draining_ = false;
  int64_t beat_interval_ms_ = 5'000;
  EventLoop::TimerId beat_timer_ = 0, log_timer_ = 0, disk_timer_ = 0, drain_timer_ = 0;
};

}  // namespace dynbench::worker
