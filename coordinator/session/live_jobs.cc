#include "coordinator/session/live_jobs.h"

#include <utility>

namespace dynbench::session {

LiveExperiment MakeLive(const plan::Experiment& experiment) {
  LiveExperiment live;
  live.json = plan::ToJson(experiment);
  live.name = plan::DisplayName(experiment);
  live.model = experiment.model;
  live.keys = PredictionKeysOf(experiment);
  live.device = experiment.device;
  live.environment = experiment.environment;
  live.partition = experiment.partition;
  live.timeout_ms = experiment.diagnostics.empty() ? experiment.timeout_ms : 0;
  return live;
}

void LiveJobs::Add(v1::Job job, std::vector<LiveExperiment> open) {
  const JobId id(job.id());
  LiveJob& live = jobs_[id];
  live.job = std::move(job);
  int64_t running = 0;
  for (LiveExperiment& experiment : open) {
    running += experiment.running;
    live.open.insert(experiment.id);
    if (experiment.lease) leases_[experiment.lease].insert(experiment.id);
    const ExperimentId key = experiment.id;
    experiments_[key] = std::move(experiment);
  }
  v1::Coverage& coverage = CoverageOf(id);
  coverage.set_running(running);
  coverage.set_waiting(static_cast<int64_t>(live.open.size()) - running);
}

LiveExperiment* LiveJobs::Find(ExperimentId experiment) {
  const auto found = experiments_.find(experiment);
  return found == experiments_.end() ? nullptr : &found->second;
}

LiveJob* LiveJobs::FindJob(JobId job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

void LiveJobs::Leased(ExperimentId experiment, LeaseEpoch lease, const WorkerId& worker,
                      const std::string& host, int slot) {
  LiveExperiment* live = Find(experiment);
  if (live == nullptr) return;
  if (live->lease != lease) Waits(*live);
  live->lease = lease;
  live->worker = worker;
  live->host = host;
  live->slot = slot;
  leases_[lease].insert(experiment);
}

void LiveJobs::Started(LiveExperiment& experiment, int64_t started_unix_ms) {
  if (experiment.running) return;
  experiment.running = true;
  experiment.phase = std::string(ToString(plan::Phase::kPrepare));
  experiment.started_unix_ms = started_unix_ms;
  ++experiment.attempts;
  v1::Coverage& coverage = CoverageOf(experiment.job);
  coverage.set_running(coverage.running() + 1);
  coverage.set_waiting(coverage.waiting() - 1);
}

void LiveJobs::Waits(LiveExperiment& experiment) {
  if (const auto lease = leases_.find(experiment.lease); lease != leases_.end()) {
    lease->second.erase(experiment.id);
    if (lease->second.empty()) leases_.erase(lease);
  }
  if (experiment.running) {
    v1::Coverage& coverage = CoverageOf(experiment.job);
    coverage.set_running(coverage.running() - 1);
    coverage.set_waiting(coverage.waiting() + 1);
  }
  experiment.running = false;
  experiment.lease = LeaseEpoch();
  experiment.worker = WorkerId();
  experiment.host.clear();
  experiment.slot = 0;
  experiment.phase.clear();
  experiment.started_unix_ms = 0;
}

void LiveJobs::Done(ExperimentId id, plan::Outcome outcome) {
  LiveExperiment* experiment = Find(id);
  if (experiment == nullptr) return;
  Waits(*experiment);
  LiveJob& job = jobs_.at(experiment->job);
  v1::Coverage& coverage = *job.job.mutable_coverage();
  coverage.set_waiting(coverage.waiting() - 1);
  switch (outcome) {
    case plan::Outcome::kPassed:
      coverage.set_passed(coverage.passed() + 1);
      break;
    case plan::Outcome::kFailed:
      coverage.set_failed(coverage.failed() + 1);
      break;
    case plan::Outcome::kSkipped:
      coverage.set_skipped(coverage.skipped() + 1);
      break;
    case plan::Outcome::kLost:
      coverage.set_lost(coverage.lost() + 1);
      break;
    case plan::Outcome::kCancelled:
      coverage.set_cancelled(coverage.cancelled() + 1);
      break;
  }
  job.open.erase(id);
  experiments_.erase(id);
}

std::vector<const LiveExperiment*> LiveJobs::Running() const {
  std::vector<const LiveExperiment*> running;
  for (const auto& [lease, ids] : leases_) {
    for (const ExperimentId& id : ids) {
      const LiveExperiment& experiment = experiments_.at(id);
      if (experiment.running) running.push_back(&experiment);
    }
  }
  return running;
}

std::vector<LiveExperiment*> LiveJobs::UnderLease(LeaseEpoch lease) {
  std::vector<LiveExperiment*> found;
  const auto under = leases_.find(lease);
  if (under == leases_.end()) return found;
  for (const ExperimentId& id : under->second) found.push_back(Find(id));
  return found;
}

v1::ResultRow LiveJobs::Row(const LiveExperiment& experiment) {
  v1::ResultRow row;
  row.mutable_experiment()->set_id(experiment.id.value);
  row.mutable_experiment()->set_json(experiment.json);
  row.set_state(experiment.running ? "running" : "waiting");
  row.set_attempt(experiment.attempts);
  row.set_worker(experiment.worker.value);
  row.set_worker_host(experiment.host);
  row.set_lease(experiment.lease.value);
  row.set_started_unix_ms(experiment.started_unix_ms);
  row.set_phase(experiment.phase);
  return row;
}

}  // namespace dynbench::session
