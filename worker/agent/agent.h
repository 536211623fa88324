// The worker: ties session, slots, spool and engine together.
#pragma once

#include <atomic>
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
#include "common/tls/expiry_watch.h"
#include "worker/agent/activity.h"
#include "worker/agent/caches.h"
#include "worker/agent/environment_watch.h"
#include "worker/agent/environment_work.h"
#include "worker/agent/file_fetcher.h"
#include "worker/agent/held_reports.h"
#include "worker/agent/identity.h"
#include "worker/agent/journal.h"
#include "worker/agent/messages.h"
#include "worker/agent/session_client.h"
#include "worker/agent/slot.h"
#include "worker/agent/slot_health.h"
#include "worker/agent/space_hold.h"
#include "worker/agent/spool.h"
#include "worker/agent/spool_writer.h"
#include "worker/agent/work_folders.h"
#include "worker/engine/engine_set.h"
#include "worker/host/inventory.h"
#include "worker/host/preflight.h"
#include "worker/process/event_loop.h"
#include "worker/process/owned_mark.h"
#include "worker/process/watchdog.h"

namespace dynbench::worker {

struct AgentOptions {
  std::string coordinator;
  std::string state_dir;
  std::string environments_dir;
  std::string pool;
  std::string host_root = "";  // a folder in the place of /, for tests: where settings are read
  std::map<std::string, std::string> labels;  // the operator's and what was found
  std::shared_ptr<GpuProbe> gpus;             // asked by one thread at a time
  Inventory inventory;
  std::vector<int> cores;  // claimed
  std::vector<SlotShape> slots;
  int64_t disk_low_bytes = int64_t{2} << 30;         // below it no work is taken
  int64_t cache_cap_bytes = int64_t{20} << 30;       // of the store of prepared caches
  int64_t artifacts_cap_bytes = int64_t{10} << 30;   // of all kept artifacts
  int keep_failed = 20;                              // work folders of failed attempts
  int64_t grace_ms = 0;                              // that what runs may take to end after Stop
  int64_t recheck_ms = SlotHealth::kFirstRecheckMs;  // after a check that failed
  std::function<absl::StatusOr<plan::LaunchProfile>(const std::string&)> profile;
  std::string tls = "";  // folder with certificates (common/tls/folder.h); empty: no TLS
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

// Runs on the thread that calls Run; Stop belongs to it too (post it).
// agent.cc: session and leases · agent_slots.cc: what slots are given and tell · agent_reports.cc:
// what the coordinator is told · agent_drain.cc: how work is refused · agent_health.cc: checks and
// what slots do.
class Agent {
 public:
  // Takes the state folder (see Identity) and reads what an earlier process left.
  static absl::StatusOr<std::unique_ptr<Agent>> Create(AgentOptions options, EventLoop* loop);
  ~Agent();  // nothing of its process trees is left

  // Connects and works until the loop is stopped.
  void Start();

  // Takes no more work, gives back what is not finished after the grace, and stops the loop when
  // nothing runs and what there was to say has been said (or 20 s later). A wanted stop counts
  // against nobody. Called again: gives back at once; and again: stops at once.
  void Stop();

 private:
  Agent(AgentOptions options, EventLoop* loop, Identity identity, Spool spool);

  v1::Hello MakeHello();
  void OnWelcome(const v1::Welcome& welcome);
  void OnMessage(const v1::CoordinatorMessage& message);
  void OnLost(const std::string& reason);
  void OnLease(const v1::Lease& lease);
  void OnRevoke(const v1::Revoke& revoke);
  void CheckDisk();
  void StartSession();
  void EndLeftovers();
  void WriteWorkerFile(bool connected);
  std::set<AttemptId> Running() const;
  Slot* SlotOf(const AttemptId& attempt);

  // What slots are given and tell (agent_slots.cc)
  void AddSlots();
  SlotServices ServicesOfSlots();
  SlotReports ReportsOfSlot(size_t slot);

  // What the coordinator is told (agent_reports.cc)
  void OnWatchLog(const v1::WatchLog& watch);
  void OnFinished(const v1::AttemptFinished& finished);
  void SendFinished(const v1::AttemptFinished& finished);
  void SendReturned(const AttemptId& attempt, const std::string& reason, bool infrastructure);
  void SendReturned(const v1::AttemptReturned& returned);
  void TellSoon();
  void TellHeld();
  void SendLogs();
  void SendSlots();
  void Beat();

  // How work is refused (agent_drain.cc)
  struct SlotState {
    SlotHealth health;
    ActivityLog log;
    Activity lanes = Activity::kIdle;      // what its attempts do
    std::string told_state;                // as the coordinator knows it
    std::vector<StuckProcess> stuck = {};  // of its attempts, since it was healthy
  };
  SlotBlock BlockOf(size_t slot) const;
  void BlocksChanged();
  void OnDrain(const v1::Drain& drain);
  void OnRelease();
  void GiveAllBack();
  void AwaitEnd(MonotonicTime deadline);

  // Checks and what slots do (agent_health.cc)
  void LookAtHealth();
  PreflightSpec SpecOf(size_t slot) const;
  void CheckSlot(size_t slot);
  void OnSlotChecked(size_t slot, const PreflightFinding& finding);
  void CheckEnvironment(const std::string& name);
  void OnEnvironmentChecked(const std::string& name, const absl::Status& status);
  void ReportCheck(size_t slot, const std::string& environment, const std::string& failed_check,
                   const std::string& reason);
  void RepeatReports();
  void OnPreflight(const v1::Preflight& preflight);
  void StartMaking();
  void EnvironmentsChanged(const EnvironmentWatch::Environments& usable);
  void OnEnded(size_t slot, const plan::Result& result);
  void OnTrouble(size_t slot);
  void OnStuck(size_t slot, const std::vector<StuckProcess>& processes);
  void LookAtMemory(size_t slot);
  void NoteActivity(size_t slot);
  void TellActivities();

  const AgentOptions options_;
  EventLoop* loop_;
  Identity identity_;
  Spool spool_;
  LoopThread disk_;  // before what writes through it
  Journal journal_;
  Caches caches_;
  WorkFolders folders_;
  Artifacts artifacts_;
  FileFetcher files_;
  const UnixTimeMs started_at_;
  LoopThread preparer_, janitor_;
  SpoolWriter spool_writer_;
  EngineSet engine_;
  std::optional<Watchdog> watchdog_;     // ends before the engine, which would kill it
  std::atomic<pid_t> asking_device_{0};  // the process that a check waits for
  LoopThread checker_;                   // ends before the engine that spares its children
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<SlotState> states_;  // parallel to slots_
  std::map<std::string, SlotHealth> environment_health_;
  std::map<std::string, std::string> environment_hashes_;  // as they were looked at
  std::unique_ptr<SessionClient> session_;
  std::unique_ptr<tls::ExpiryWatch> expiry_;
  std::unique_ptr<EnvironmentWatch> environments_;
  std::unique_ptr<EnvironmentWork> making_;  // of environments, as the coordinator orders
  HeldReports held_;
  std::map<AttemptId, int64_t> watched_;  // log offset that the coordinator has
  // Returned while the coordinator could not be told.
  std::map<AttemptId, v1::AttemptReturned> untold_;
  SpaceHold space_;                     // after an experiment found the disk full
  std::string disk_reason_;             // why nothing is taken; empty: it is
  std::string drain_reason_;            // an operator's; empty: not drained
  std::string lost_reason_;             // as logged last
  std::optional<bool> told_connected_;  // what worker.json says
  bool stopping_ = false;
  bool given_back_ = false;  // while stopping: nothing may run on
  bool session_started_ = false;
  int64_t beat_interval_ms_ = 5'000;
  EventLoop::TimerId beat_timer_ = 0, log_timer_ = 0, disk_timer_ = 0, drain_timer_ = 0,
                     stop_timer_ = 0, health_timer_ = 0, activity_timer_ = 0, first_timer_ = 0,
                     held_timer_ = 0;
};

}  // namespace dynbench::worker
