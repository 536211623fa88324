// Pair jobs: what PairJobs decides, carried out. See pair_jobs.h.
#include <algorithm>
#include <utility>

#include "common/plan/pairs.h"
#include "coordinator/session/dispatcher.h"
#include "coordinator/session/learn_noise.h"
#include "proto/dynbench/convert.h"
#include "spdlog/spdlog.h"

namespace dynbench::session {

size_t Dispatcher::SlotsOfPairs() const {
  size_t slots = 0;
  for (const auto& [id, worker] : fleet_.workers()) {
    for (const scheduler::SlotOffer& offer : OffersOf(worker)) slots += offer.accepting ? 1 : 0;
  }
  return std::max<size_t>(slots, 1);
}

void Dispatcher::Schedule(JobId id, AddedJob& job) {
  scheduler::JobAdded added = ToEvent(id, job);
  if (job.pairs.empty()) return Feed(added);
  added.place = added.tasks.front().queue_order;
  added.tasks.clear();
  pairs_.Add(job.request, added, std::move(job.pairs));
  AdvancePairs(id);
}

void Dispatcher::ResumePairs(JobId id, AddedJob& job, const std::vector<store::ResultRow>& rows,
                             const std::vector<ExperimentId>& leased) {
  scheduler::JobAdded added = ToEvent(id, job);
  std::map<ExperimentId, scheduler::Task> open;
  for (scheduler::Task& task : added.tasks) open[task.id] = std::move(task);
  added.place = rows.front().id.value;
  added.tasks.clear();
  std::vector<PairMember> members;
  for (const store::ResultRow& row : rows) {
    const plan::Experiment& e = row.experiment;
    if (e.planned_outcome) continue;
    const auto task = open.find(row.id);
    members.push_back({row.id, e.pair, e.round, e.side == plan::kNewSide,
                       e.test == plan::Test::kPerformance,
                       task == open.end() ? scheduler::Task() : std::move(task->second)});
  }
  pairs_.Add(job.request, added, members);
  for (const store::ResultRow& row : rows) {
    if (!row.result) continue;
    const double seconds =
        row.lease ? static_cast<double>(row.finished_at.ms - row.started_at.ms) / 1000 : 0;
    pairs_.Record(row.id, {*row.result, row.lease, {row.worker, row.slot}, seconds});
  }
  scheduler::TasksAdded resumed{added};
  for (const ExperimentId& experiment : leased) pairs_.Resume(experiment, &resumed.job.tasks);
  Feed(resumed);
  AdvancePairs(id);
}

void Dispatcher::RecordRound(const LiveExperiment& live, const v1::Result& message,
                             LeaseEpoch lease, double seconds) {
  PairJobs::Landed landed;
  landed.lease = lease;
  landed.slot = {live.worker, live.slot};
  landed.seconds = seconds;
  absl::StatusOr<plan::Result> result = proto::FromProto(message);
  if (result.ok()) {
    landed.result = *std::move(result);
  } else {
    landed.result.outcome = plan::Outcome::kLost;
    landed.result.error = std::string(result.status().message());
  }
  pairs_.Record(live.id, std::move(landed));
}

void Dispatcher::AdvancePairs(JobId job) {
  if (!pairs_.Knows(job)) return;
  const PairJobs::Moves moves = pairs_.Next(job, SlotsOfPairs());
  if (!moves.added.job.tasks.empty()) Feed(moves.added);
  Drop(moves.dropped);
}

// After the job's last result: writes are committed in their order.
void Dispatcher::LearnFrom(JobId job) {
  const plan::Request* request = pairs_.RequestOf(job);
  if (request != nullptr && IsCalibration(*request)) CommitNoise(job);
}

void Dispatcher::CommitNoise(JobId job) {
  Commit(
      absl::StrCat("noise floors of job ", job.value),
      [job, at = unix_now()](store::Database& db) { return LearnNoise(db, job, at); }, nullptr);
}

void Dispatcher::Drop(const std::vector<PairJobs::Dropped>& dropped) {
  for (const PairJobs::Dropped& d : dropped) {
    CarryOut(scheduler::Conclude{d.experiment, d.outcome, d.status, d.blame, d.reason});
  }
}

}  // namespace dynbench::session
