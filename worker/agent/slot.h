// One slot: runs the experiments of its leases in order on a few lanes, gives windows, and turns
// what the engine says into reports.
//
// Belongs to the agent's event loop; files are made and removed on two threads beside it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dynbench/v1/session.pb.h"
#include "worker/agent/activity.h"
#include "worker/agent/artifacts.h"
#include "worker/agent/block_order.h"
#include "worker/agent/caches.h"
#include "worker/agent/device_memory.h"
#include "worker/agent/live_log.h"
#include "worker/agent/window_arbiter.h"
#include "worker/agent/work_folders.h"
#include "worker/engine/engine.h"
#include "worker/host/environment.h"
#include "worker/host/gpu_probe.h"
#include "worker/process/event_loop.h"

namespace dynbench::worker {

struct SlotShape {
  int index = 0;
  std::string device;       // torch device type
  std::string device_name;  // for people
  std::string device_uuid;  // GPUs
  int device_index = -1;    // GPUs
  std::vector<int> cores;
  int64_t memory_bytes = 0;  // of the device; on a CPU of the host
  int lanes = 1;             // experiments side by side
  // The cores of each lane, fixed as long as the worker lives; empty: every lane has all of the
  // slot's. An experiment that owns the slot has all of them too.
  std::vector<std::vector<int>> lane_cores;
  std::string tuning;  // of the host, by this worker (--tune); empty: none
  bool freeze = true;  // false: lanes run on in one another's windows (for the bench)
  // Of the host, for each process of an experiment; 0: not limited.
  int64_t process_memory_bytes = 0;
};

// What a slot works with; everything outlives it.
struct SlotServices {
  EventLoop* loop = nullptr;      // the agent's
  EventLoop* preparer = nullptr;  // makes folders, copies caches, fetches files
  EventLoop* janitor = nullptr;   // removes and keeps folders
  Engine* engine = nullptr;
  WorkFolders* folders = nullptr;
  Caches* caches = nullptr;
  Artifacts* artifacts = nullptr;  // the janitor's
  std::string state_dir;
  // The local copy of a model file; may wait for the network. Called on the preparer's thread.
  std::function<absl::StatusOr<std::string>(const std::string& sha256)> fetch_file;
  std::function<std::optional<Environment>(const std::string& name)> environment;
  std::function<absl::StatusOr<plan::LaunchProfile>(const std::string& name)> profile;
  // How the GPU with this UUID runs now; nothing where its driver does not say. May be null.
  std::function<std::optional<GpuState>(const std::string& uuid)> gpu_state;
  // What of the host may change under an attempt, as it is now: name for people -> value. May be
  // null.
  std::function<std::map<std::string, std::string>()> host_settings = nullptr;
};

// What a slot tells the agent, on the agent's loop.
struct SlotReports {
  std::function<void(const v1::AttemptStarted&)> started;
  std::function<void(const AttemptId&, plan::Phase)> phase;
  std::function<void(v1::AttemptFinished)> finished;
  std::function<void(const AttemptId&, const std::string& reason, bool infrastructure)> returned;
  // It was ended at a learned limit of a phase: to be run again, without.
  std::function<void(const AttemptId&, const std::string& reason)> phase_limit;
  // Infrastructure ended it: to be run again elsewhere. `status` is the word for it.
  std::function<void(const AttemptId&, const std::string& status, const std::string& reason)>
      infrastructure_failed;
  // Processes of an attempt that KILL did not reach; before its report.
  std::function<void(const std::vector<StuckProcess>&)> stuck;
  std::function<void()> running_changed;
  std::function<void(Activity)> activity;  // of the slot, when it is another one
  // After an attempt's report, before it where infrastructure failed: what its end says of the slot
  // and of the host.
  std::function<void(const plan::Result&)> ended;
  std::function<void()> trouble;  // one is returned through no fault of its own
};

class Slot {
 public:
  Slot(SlotShape shape, SlotServices services, SlotReports reports);
  ~Slot();

  // Queues a lease's experiments; one that is known already is passed over.
  void Add(const v1::Lease& lease);
  // Stops and drops: nothing of these experiments is reported any more.
  void Revoke(LeaseEpoch epoch, const std::set<ExperimentId>& experiments,
              const std::string& reason);
  // Takes nothing any more: what waits is given back, unmarked; what runs may end.
  void Close(const std::string& reason);
  void Open() { closed_.clear(); }
  // Closes, and gives back what runs as well, when its tree is gone.
  void Drain(const std::string& reason);

  const SlotShape& shape() const { return shape_; }
  bool idle() const { return running_.empty() && queue_.empty(); }
  std::set<AttemptId> Running() const;
  // Everything that is still owed, by lease.
  std::map<LeaseEpoch, std::set<ExperimentId>> Held() const;
  // Null when the attempt does not run here.
  std::shared_ptr<LiveLog> LogOf(const AttemptId& attempt) const;

 private:
  struct Planned {
    AttemptId id;
    JobId job;
    std::string json;
    std::optional<plan::Experiment> experiment;  // once it was looked at
    std::vector<v1::PhaseLimit> phase_limits = {};
    int lanes = 1;                           // whose cores it takes
    std::vector<int> companions_lanes = {};  // it shares them; empty: those that are free
  };
  struct Run;

  void StartNext();
  bool MayBegin(Planned& planned);
  bool StartWaitingAlone();
  void Begin(Planned planned);
  void MakeReady(const std::shared_ptr<Run>& run);
  std::vector<int> FreeLanes() const;
  std::vector<int> CoresOf(const Run& run) const;
  bool WantsToRunAlone(const Run& run, const plan::Result& result) const;
  void RunAgainAlone(const std::shared_ptr<Run>& run);
  void LookAtDevice(Run& run) const;
  bool LooksAtHost(const Run& run) const;
  std::string HostChanged(const Run& run, const plan::Result& result) const;
  void Prepare(const std::shared_ptr<Run>& run);
  void Launch(const std::shared_ptr<Run>& run);
  AttemptObserver Observe(const std::shared_ptr<Run>& run);
  void OnPrepared(const std::shared_ptr<Run>& run, const absl::Status& status);
  void OnCachePrepared(const std::shared_ptr<Run>& run, plan::Result result, std::string log);
  void OnFinished(const std::shared_ptr<Run>& run, plan::Result result, std::string log);
  void KeepArtifacts(const std::shared_ptr<Run>& run, plan::Result result, std::string log);
  void Report(const std::shared_ptr<Run>& run, const plan::Result& result, std::string log);
  void OnReturned(const std::shared_ptr<Run>& run, const std::string& reason);
  void OnInfrastructureFailed(const std::shared_ptr<Run>& run, const plan::Result& result,
                              const std::string& log);
  void OnPhaseLimit(const std::shared_ptr<Run>& run, const std::string& reason,
                    const std::string& log);
  void OnWindow(const std::shared_ptr<Run>& run, DeviceUse use,
                std::function<void(int64_t flags)> granted);
  void OnOffDevice(const std::shared_ptr<Run>& run);
  void OnRunsOn(const std::shared_ptr<Run>& run);
  bool StandsStill(const Run& other, DeviceUse use) const;
  WindowState LookInWindow(const Run& run) const;
  void GiveWindow(const std::shared_ptr<Run>& run, int64_t flags);
  void GrantWindow(const AttemptId& attempt);
  void ReleaseWindow(const AttemptId& attempt);
  std::shared_ptr<Run> CompanionOf(const Run& run) const;
  std::deque<Planned>::iterator QueuedCompanionOf(const Run& run);
  int BlocksFor(const Run& run);
  bool AwaitsCompanion(const std::shared_ptr<Run>& run);
  std::shared_ptr<Run> BeginCompanion(const Run& run);
  void BeginCompanions();
  void Alternate(const std::shared_ptr<Run>& run, const std::shared_ptr<Run>& other);
  bool PassTurn(const AttemptId& attempt);
  void Part(const std::shared_ptr<Run>& run);
  void GoOn(const std::shared_ptr<Run>& run);
  std::string CacheKey(const Run& run) const;
  void CleanUp(const Run& run, const plan::Result& result, const std::string& log);
  void RemoveWork(const Run& run);
  void Drop(const std::shared_ptr<Run>& run);
  void Forget(const std::shared_ptr<Run>& run);
  void SetActivity(const std::shared_ptr<Run>& run, Activity activity);
  void TellActivity();
  // While somebody measures nobody begins.
  bool WindowTaken() const { return shape_.freeze && arbiter_.holder().has_value(); }

  const SlotShape shape_;
  const SlotServices services_;
  const SlotReports reports_;
  std::deque<Planned> queue_;
  std::map<AttemptId, std::shared_ptr<Run>> running_;
  WindowArbiter arbiter_;
  DeviceMemory device_memory_;
  // Ran out of memory beside others and run again when these are done, in order.
  std::deque<std::shared_ptr<Run>> waiting_alone_;
  // Attempts that became ready to launch while somebody had the window.
  std::vector<std::shared_ptr<Run>> held_back_;
  std::string closed_;  // why nothing is taken; empty: it is
  Activity told_activity_ = Activity::kIdle;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dynbench::worker
