// The judge of a simulation: knows the promises (docs/reliability.md, docs/protocol.md) and nothing
// of the scheduler. It looks at the store after every change, within the transaction, at every
// message that promises something, and at what the workers really measured; the first broken
// promise goes to World::Violate. Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "common/base/ids.h"
#include "common/store/store.h"
#include "tests/simulation/world.h"

namespace dynbench::simulation {

class Oracle {
 public:
  // Watches `db` through SQLite's update hook. Both outlive it.
  Oracle(World* world, store::Database* db);
  ~Oracle();
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  // ---- the store ----
  void BeginBatch();
  // The batch was rolled back and is run again, change by change.
  void RestartBatch();
  void AfterChange(const absl::Status& status);
  void EndBatch(bool committed);
  // A commit failed: from now on the store may refuse what follows from it.
  void StoreFailed() { store_failed_ = true; }

  // ---- messages that promise ----
  void LeaseSent(int64_t worker, const WorkerId& id, int slot, LeaseEpoch epoch,
                 const std::vector<ExperimentId>& experiments);
  void AcknowledgementSent(int64_t worker, const AttemptId& attempt);

  // ---- what is true of the workers ----
  void Began(int64_t worker, const AttemptId& attempt);
  void Measured(const AttemptId& attempt, const std::string& token);
  void DiedRunning(ExperimentId experiment) { ++deaths_[experiment]; }
  // `status`: the word for it where the slot's device is to blame.
  void InfrastructureFailed(ExperimentId experiment, const SlotId& slot, const std::string& status);
  void CancelRequested(JobId job) { cancelled_.insert(job); }

  // Of the committed store.
  int64_t planned() const { return planned_; }
  int64_t open() const { return planned_ - done_; }
  int64_t attempts_begun() const { return static_cast<int64_t>(began_.size()); }
  int64_t superseded() const { return superseded_; }
  // A few experiments without a result, for a message.
  std::string DescribeOpen() const;

  // At the end of an episode: all of it once more, by SQL alone.
  void CheckWhole();

 private:
  struct Experiment {
    JobId job;
    std::string state;
    LeaseEpoch lease;
    bool has_result = false;
  };
  struct Job {
    int64_t planned = 0;
    std::map<std::string, int64_t> outcomes;  // of results
    int64_t running = 0;
  };
  struct Lease {
    SlotId slot;
    bool live = false;
  };
  static void OnUpdate(void* self, int operation, const char* database, const char* table,
                       long long row);
  void Look();
  void LookAtLease(LeaseEpoch epoch);
  void LookAtExperiment(ExperimentId id);
  void LookAtJob(JobId id);
  void Step(ExperimentId id, const Experiment& before, const Experiment& after,
            const std::string& outcome, LeaseEpoch result_lease, const std::string& status,
            const std::string& token);
  void JudgeResult(ExperimentId id, const Experiment& before, const std::string& outcome,
                   LeaseEpoch result_lease, const std::string& status, const std::string& token);
  void JudgeLoss(ExperimentId id, const std::string& status);
  void CheckAttempts(ExperimentId id, const Experiment& now);
  // Takes back what was noted since `mark`.
  void TakeBack(size_t mark);
  template <typename Map>
  void Set(Map* map, const typename Map::key_type& key, typename Map::mapped_type value);
  template <typename T>
  void Set(T* field, T value);
  void Violate(const std::string& what);

  World* const world_;
  store::Database* const db_;
  std::set<int64_t> touched_jobs_, touched_experiments_, touched_leases_;
  std::unordered_map<ExperimentId, Experiment> experiments_;
  std::map<JobId, Job> jobs_;
  std::unordered_map<LeaseEpoch, Lease> leases_;
  std::map<SlotId, std::set<LeaseEpoch>> live_;
  LeaseEpoch last_epoch_;
  int64_t planned_ = 0, done_ = 0, superseded_ = 0;
  // How to take back what was noted in this batch; of the changes that stay up to `kept_`.
  std::vector<std::function<void()>> undo_;
  size_t kept_ = 0;
  bool store_failed_ = false;
  std::set<AttemptId> began_;
  std::map<AttemptId, std::string> measured_;
  struct Trouble {
    int failures = 0;
    std::set<std::string> statuses;  // with "" where none was named
    std::set<SlotId> failed_on;      // whose device failed it
  };
  std::unordered_map<ExperimentId, int> deaths_;
  std::unordered_map<ExperimentId, Trouble> infrastructure_;
  std::set<JobId> cancelled_;
};

}  // namespace dynbench::simulation
