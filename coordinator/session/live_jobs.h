// The jobs that are not finished, as their watchers see them: counts, and for each unfinished
// experiment where it is. Follows what was committed; the scheduler decides, the store remembers.
//
// Always planned = passed + failed + skipped + lost + cancelled + waiting + running.
// Thread-compatible: the dispatcher's thread owns it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/plan/experiment.h"
#include "common/plan/words.h"
#include "coordinator/session/predictions.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::session {

struct LiveExperiment {
  ExperimentId id;
  JobId job;
  std::string json;  // canonical
  std::string name;  // plan::DisplayName
  PredictionKeys keys;
  std::string device;
  std::string environment;
  int partition = 0;
  bool running = false;
  LeaseEpoch lease;  // 0: not leased
  WorkerId worker;   // of the lease
  std::string host;
  int slot = 0;
  std::string phase;  // while running
  int attempts = 0;   // started so far
  int64_t started_unix_ms = 0;
  std::string model;
  // Below which a phase may be limited; 0: learned limits do not apply (a diagnostic rerun).
  int64_t timeout_ms = 0;
  bool whole_timeout = false;  // an attempt was ended at a learned limit: no more of them
  std::string needs;  // beyond device and environment, for people; those that wait for the same
  double compile_weight = 0;  // TypicalCompile::Of

  AttemptId attempt() const { return {id, lease}; }
};

struct LiveJob {
  v1::Job job;  // with up-to-date coverage; eta_s and waiting_reasons are the dispatcher's to fill
  std::set<ExperimentId> open;
  bool finished() const { return open.empty(); }
};

class LiveJobs {
 public:
  // `job.coverage` holds the counts of what is done already; waiting and running are counted here.
  void Add(v1::Job job, std::vector<LiveExperiment> open);

  // nullptr when it is not open.
  LiveExperiment* Find(ExperimentId experiment);
  LiveJob* FindJob(JobId job);
  const std::map<JobId, LiveJob>& jobs() const { return jobs_; }
  size_t open_experiments() const { return experiments_.size(); }

  void Leased(ExperimentId experiment, LeaseEpoch lease, const WorkerId& worker,
              const std::string& host, int slot);
  void Started(LiveExperiment& experiment, int64_t started_unix_ms);
  void Waits(LiveExperiment& experiment);
  // Takes it out. The job stays until RemoveJob, also when this was its last experiment.
  void Done(ExperimentId experiment, plan::Outcome outcome);
  void RemoveJob(JobId job) { jobs_.erase(job); }

  // All that run now.
  std::vector<const LiveExperiment*> Running() const;
  // What is leased under `lease` now.
  std::vector<LiveExperiment*> UnderLease(LeaseEpoch lease);

  // Without result; the caller adds it to a finished one.
  static v1::ResultRow Row(const LiveExperiment& experiment);

 private:
  v1::Coverage& CoverageOf(JobId job) { return *jobs_.at(job).job.mutable_coverage(); }

  std::map<JobId, LiveJob> jobs_;
  std::map<ExperimentId, LiveExperiment> experiments_;
  std::map<LeaseEpoch, std::set<ExperimentId>> leases_;
};

// What LiveJobs keeps of an experiment; the ids are the caller's to set.
LiveExperiment MakeLive(const plan::Experiment& experiment);

}  // namespace dynbench::session
