#include "tests/simulation/oracle.h"

#include <sqlite3.h>

#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/plan/words.h"
#include "common/store/statement.h"

namespace dynbench::simulation {
namespace {

using store::Statement;

constexpr int kCrashBudget = 2;            // scheduler::Options
constexpr int kInfrastructureRetries = 2;  // scheduler::Options

// Refusals that are part of the protocol: a job that has ended cannot be cancelled, a conclusion
// that comes after the result.
bool IsExpected(const absl::Status& status) {
  const std::string text(status.message());
  return absl::StrContains(text, "there is nothing left to cancel") ||
         absl::StrContains(text, "has its result");
}

bool RowIs(Statement& query) {
  const auto row = query.Step();
  return row.ok() && *row;
}

int64_t Number(store::Database& db, const char* sql) {
  Statement query(db, sql);
  return RowIs(query) ? query.Int(0) : -1;
}

}  // namespace

Oracle::Oracle(World* world, store::Database* db) : world_(world), db_(db) {
  sqlite3_update_hook(db->handle(), &Oracle::OnUpdate, this);
}

Oracle::~Oracle() { sqlite3_update_hook(db_->handle(), nullptr, nullptr); }

void Oracle::OnUpdate(void* self, int, const char*, const char* table, long long row) {
  auto* oracle = static_cast<Oracle*>(self);
  if (std::strcmp(table, "experiment") == 0 || std::strcmp(table, "result") == 0) {
    oracle->touched_experiments_.insert(row);  // a result has its experiment's row id
  } else if (std::strcmp(table, "job") == 0) {
    oracle->touched_jobs_.insert(row);
  } else if (std::strcmp(table, "lease") == 0) {
    oracle->touched_leases_.insert(row);
  }
}

void Oracle::Violate(const std::string& what) { world_->Violate(what); }

template <typename Map>
void Oracle::Set(Map* map, const typename Map::key_type& key, typename Map::mapped_type value) {
  const auto it = map->find(key);
  if (it == map->end()) {
    undo_.push_back([map, key] { map->erase(key); });
    map->emplace(key, std::move(value));
    return;
  }
  undo_.push_back([map, key, old = it->second] { (*map)[key] = old; });
  it->second = std::move(value);
}

template <typename T>
void Oracle::Set(T* field, T value) {
  undo_.push_back([field, old = *field] { *field = old; });
  *field = std::move(value);
}

void Oracle::TakeBack(size_t mark) {
  while (undo_.size() > mark) {
    undo_.back()();
    undo_.pop_back();
  }
}

void Oracle::BeginBatch() {
  undo_.clear();
  kept_ = 0;
}

void Oracle::RestartBatch() {
  TakeBack(0);
  kept_ = 0;
}

void Oracle::AfterChange(const absl::Status& status) {
  if (status.ok()) {
    Look();
    kept_ = undo_.size();
  } else if (!store_failed_ && !IsExpected(status)) {
    Violate(absl::StrCat("the store refused a decision of the scheduler: ", status.ToString()));
  }
  touched_experiments_.clear();
  touched_jobs_.clear();
  touched_leases_.clear();
}

void Oracle::EndBatch(bool committed) {
  if (committed) {
    undo_.clear();
  } else {
    TakeBack(0);
    StoreFailed();
  }
}

void Oracle::Look() {
  for (const int64_t id : touched_leases_) LookAtLease(LeaseEpoch(id));
  for (const int64_t id : touched_experiments_) LookAtExperiment(ExperimentId(id));
  std::set<JobId> jobs;
  for (const int64_t id : touched_jobs_) jobs.insert(JobId(id));
  for (const int64_t id : touched_experiments_) jobs.insert(experiments_[ExperimentId(id)].job);
  for (const JobId& id : jobs) LookAtJob(id);
}

void Oracle::LookAtLease(LeaseEpoch epoch) {
  Statement query(*db_, "SELECT worker, slot, state = 'live' FROM lease WHERE epoch = ?");
  query.Bind(epoch);
  if (!RowIs(query)) return Violate(absl::StrCat("lease ", epoch.value, " disappeared"));
  const SlotId slot{WorkerId(query.Text(0)), static_cast<int>(query.Int(1))};
  const Lease now{slot, query.Int(2) != 0};
  const auto before = leases_.find(epoch);
  if (before == leases_.end()) {
    if (epoch <= last_epoch_) {
      Violate(absl::StrCat("lease ", epoch.value, " was given after lease ", last_epoch_.value));
    }
    Set(&last_epoch_, epoch);
  } else if (before->second.slot != slot) {
    Violate(absl::StrCat("lease ", epoch.value, " went to another slot"));
  } else if (now.live && !before->second.live) {
    Violate(absl::StrCat("lease ", epoch.value, " was closed and lives again"));
  }
  Set(&leases_, epoch, now);
  std::set<LeaseEpoch> live = live_[slot];
  if (now.live) {
    live.insert(epoch);
  } else {
    live.erase(epoch);
  }
  if (live.size() > 1) {
    Violate(absl::StrCat("slot ", slot.index, " of worker ", slot.worker.value,
                         " has two live leases: ", live.begin()->value, " and ",
                         live.rbegin()->value));
  }
  Set(&live_, slot, std::move(live));
}

void Oracle::LookAtExperiment(ExperimentId id) {
  Statement query(*db_,
                  "SELECT e.job, e.state, e.lease, r.outcome, r.lease, r.status, r.error"
                  " FROM experiment e LEFT JOIN result r ON r.experiment = e.id WHERE e.id = ?");
  query.Bind(id);
  if (!RowIs(query)) return Violate(absl::StrCat("experiment ", id.value, " disappeared"));
  const Experiment now{JobId(query.Int(0)), query.Text(1), LeaseEpoch(query.Int(2)),
                       !query.IsNull(3)};
  const auto found = experiments_.find(id);
  const Experiment before = found == experiments_.end() ? Experiment() : found->second;
  Step(id, before, now, query.Text(3), LeaseEpoch(query.Int(4)), query.Text(5), query.Text(6));
  CheckAttempts(id, now);
  Set(&experiments_, id, now);
}

void Oracle::Step(ExperimentId id, const Experiment& before, const Experiment& after,
                  const std::string& outcome, LeaseEpoch result_lease, const std::string& status,
                  const std::string& token) {
  const std::string name = absl::StrCat("experiment ", id.value);
  const bool is_new = !before.job;
  Job job = jobs_[after.job];
  if (is_new) Set(&planned_, planned_ + 1);
  if (after.has_result != (after.state == "done")) {
    Violate(absl::StrCat(name, " is ", after.state, after.has_result ? " with" : " without",
                         " a result"));
  }
  if (before.has_result && !after.has_result) Violate(absl::StrCat(name, " lost its result"));
  if (after.has_result && !before.has_result) {
    ++job.outcomes[outcome];
    Set(&done_, done_ + 1);
    if (!is_new) JudgeResult(id, before, outcome, result_lease, status, token);
  }
  job.running += (after.state == "running") - (before.state == "running");
  Set(&jobs_, after.job, std::move(job));
  if (before.lease && after.lease && before.lease != after.lease) {
    Violate(absl::StrCat(name, " was leased under ", after.lease.value, " while lease ",
                         before.lease.value, " holds it"));
  }
  if (after.lease && !before.lease && after.lease != last_epoch_) {
    Violate(absl::StrCat(name, " was leased under ", after.lease.value,
                         ", which is not the newest lease"));
  }
  if (after.lease) {
    const auto lease = leases_.find(after.lease);
    // Where a requeue could not be stored, the end of its lease may be stored before it.
    if (!store_failed_ && (lease == leases_.end() || !lease->second.live)) {
      Violate(absl::StrCat(name, " is leased under ", after.lease.value, ", which is closed"));
    }
  }
}

void Oracle::JudgeResult(ExperimentId id, const Experiment& before, const std::string& outcome,
                         LeaseEpoch result_lease, const std::string& status,
                         const std::string& token) {
  const std::string name = absl::StrCat("experiment ", id.value);
  if (result_lease) {
    if (before.lease != result_lease) {
      Violate(absl::StrCat(name, ": the result of lease ", result_lease.value,
                           " was counted, though ",
                           before.lease ? absl::StrCat("lease ", before.lease.value, " holds it")
                                        : std::string("that lease was fenced")));
    }
    const auto measured = measured_.find({id, result_lease});
    if (measured == measured_.end() || measured->second != token) {
      Violate(absl::StrCat(name, ": nobody measured its result under lease ", result_lease.value));
    }
    return;
  }
  if (outcome == "cancelled") {
    if (cancelled_.count(before.job) == 0) Violate(absl::StrCat(name, ": nobody cancelled it"));
  } else if (status == "crash") {
    if (deaths_[id] < kCrashBudget) {
      Violate(absl::StrCat(name, " was failed as a crash after ", deaths_[id], " deaths"));
    }
  } else if (outcome == "skipped") {
    // A round that its pair did not need, or whose other side was disturbed.
    Statement pair(*db_,
                   "SELECT json_extract(plan, '$.pair') FROM experiment_plan WHERE experiment = ?");
    pair.Bind(id);
    if (!RowIs(pair) || pair.Int(0) == 0) Violate(absl::StrCat(name, " was skipped by nobody"));
  } else if (outcome == "lost") {
    JudgeLoss(id, status);
  } else {
    Violate(absl::StrCat(name, " got the outcome ", outcome, " from nobody"));
  }
}

void Oracle::InfrastructureFailed(ExperimentId experiment, const SlotId& slot,
                                  const std::string& status) {
  Trouble& trouble = infrastructure_[experiment];
  ++trouble.failures;
  trouble.statuses.insert(status);
  if (plan::BlamesDevice(status)) trouble.failed_on.insert(slot);
}

void Oracle::JudgeLoss(ExperimentId id, const std::string& status) {
  const std::string name = absl::StrCat("experiment ", id.value);
  const Trouble& trouble = infrastructure_[id];
  if (trouble.statuses.count(status == "lost" ? "" : status) == 0) {
    Violate(absl::StrCat(name, " was lost as ", status, ", which nobody said of it"));
  }
  if (trouble.failures > kInfrastructureRetries) return;
  // Before that only where its device failed on every slot that could run it. Rounds of pairs may
  // need two environments at once.
  Statement slots(*db_,
                  "SELECT count(*) FROM slot s JOIN worker_environment w ON w.worker = s.worker"
                  " JOIN experiment_plan p ON w.name = json_extract(p.plan, '$.environment')"
                  " WHERE p.experiment = ? AND ifnull(json_extract(p.plan, '$.pair'), 0) = 0");
  slots.Bind(id);
  const bool excused =
      plan::BlamesDevice(status) &&
      (store_failed_ ||
       (RowIs(slots) && slots.Int(0) <= static_cast<int64_t>(trouble.failed_on.size())));
  if (!excused) {
    Violate(absl::StrCat(name, " was lost after ", trouble.failures,
                         " failures of infrastructure, its device on ", trouble.failed_on.size(),
                         " slots"));
  }
}

void Oracle::CheckAttempts(ExperimentId id, const Experiment& now) {
  Statement query(*db_,
                  "SELECT lease FROM attempt WHERE experiment = ?"
                  " AND state IN ('leased', 'running')");
  query.Bind(id);
  int open = 0;
  while (RowIs(query)) {
    ++open;
    if (query.Int(0) == now.lease.value) continue;
    Violate(absl::StrCat("experiment ", id.value, ": the attempt under lease ", query.Int(0),
                         " is open, which does not hold it"));
  }
  if (now.lease && open == 0) {
    Violate(absl::StrCat("experiment ", id.value, " is leased without an open attempt"));
  }
}

void Oracle::LookAtJob(JobId id) {
  Statement query(*db_,
                  "SELECT planned, passed, failed, skipped, lost, cancelled, running,"
                  " state = 'running' FROM job WHERE id = ?");
  query.Bind(id);
  if (!RowIs(query)) return Violate(absl::StrCat("job ", id.value, " disappeared"));
  Job job = jobs_[id];
  if (job.planned == 0) {
    job.planned = query.Int(0);
    Set(&jobs_, id, job);
  }
  int64_t done = 0;
  int column = 1;
  for (const char* outcome : {"passed", "failed", "skipped", "lost", "cancelled"}) {
    const int64_t counted = query.Int(column++);
    done += counted;
    if (counted != job.outcomes[outcome]) {
      Violate(absl::StrCat("job ", id.value, " counts ", counted, " ", outcome, ", there are ",
                           job.outcomes[outcome]));
    }
  }
  if (query.Int(6) != job.running) {
    Violate(absl::StrCat("job ", id.value, " counts ", query.Int(6), " running, there are ",
                         job.running));
  }
  // planned = passed + failed + skipped + lost + cancelled + waiting + running, waiting being no
  // column: what is left must not be negative, and nothing when the job has ended.
  const int64_t waiting = query.Int(0) - done - query.Int(6);
  const bool open = query.Int(7) != 0;
  if (query.Int(0) != job.planned || waiting < 0 || open != (done < job.planned)) {
    Violate(absl::StrCat("coverage of job ", id.value, ": planned ", query.Int(0), ", done ", done,
                         ", running ", query.Int(6), open ? ", open" : ", ended"));
  }
}

void Oracle::LeaseSent(int64_t worker, const WorkerId& id, int slot, LeaseEpoch epoch,
                       const std::vector<ExperimentId>& experiments) {
  world_->Note("lease sent", worker, experiments.empty() ? 0 : experiments.front().value,
               epoch.value);
  const auto lease = leases_.find(epoch);
  if (lease == leases_.end() || lease->second.slot != SlotId{id, slot}) {
    return Violate(absl::StrCat("lease ", epoch.value, " was sent before it was committed"));
  }
  for (const ExperimentId& experiment : experiments) {
    Statement query(*db_, "SELECT 1 FROM attempt WHERE experiment = ? AND lease = ?");
    query.Bind(experiment, epoch);
    if (RowIs(query)) continue;
    Violate(absl::StrCat("lease ", epoch.value, " was sent with experiment ", experiment.value,
                         ", which is not committed"));
  }
}

void Oracle::AcknowledgementSent(int64_t worker, const AttemptId& attempt) {
  world_->Note("acknowledged", worker, attempt.experiment.value, attempt.lease.value);
  Statement query(*db_,
                  "SELECT 1 FROM attempt WHERE experiment = ? AND lease = ?"
                  " AND received_unix_ms IS NOT NULL");
  query.Bind(attempt.experiment, attempt.lease);
  if (RowIs(query)) return;
  Violate(absl::StrCat("the result of experiment ", attempt.experiment.value, " under lease ",
                       attempt.lease.value, " was acknowledged before it was committed"));
}

void Oracle::Began(int64_t worker, const AttemptId& attempt) {
  world_->Note("attempt begins", worker, attempt.experiment.value, attempt.lease.value);
  if (!began_.insert(attempt).second) {
    Violate(absl::StrCat("experiment ", attempt.experiment.value, " ran twice under lease ",
                         attempt.lease.value));
  }
}

void Oracle::Measured(const AttemptId& attempt, const std::string& token) {
  measured_[attempt] = token;
}

std::string Oracle::DescribeOpen() const {
  std::string text;
  int named = 0;
  std::map<ExperimentId, const Experiment*> sorted;
  for (const auto& [id, e] : experiments_) {
    if (!e.has_result) sorted[id] = &e;
  }
  for (const auto& [id, e] : sorted) {
    if (++named > 5) break;
    absl::StrAppend(&text, " experiment ", id.value, " of job ", e->job.value, " is ", e->state,
                    " (lease ", e->lease.value, ");");
  }
  return text;
}

void Oracle::CheckWhole() {
  const std::pair<const char*, const char*> rules[] = {
      {"experiments without exactly one result",
       "SELECT count(*) FROM experiment e WHERE (SELECT count(*) FROM result r"
       " WHERE r.experiment = e.id) <> 1"},
      {"jobs whose counts are not those of their results",
       "SELECT count(*) FROM job j WHERE state = 'running' OR running <> 0 OR planned <>"
       " (SELECT count(*) FROM experiment WHERE job = j.id) OR planned <>"
       " passed + failed + skipped + lost + cancelled OR passed <> (SELECT count(*) FROM result r"
       " JOIN experiment e ON e.id = r.experiment WHERE e.job = j.id AND outcome = 'passed')"},
      {"attempts that are open although all is done",
       "SELECT count(*) FROM attempt WHERE state IN ('leased', 'running')"},
      {"attempts that count beside another one",
       "SELECT count(*) FROM (SELECT 1 FROM attempt WHERE state = 'done' GROUP BY experiment"
       " HAVING count(*) > 1)"},
      {"broken references", "SELECT count(*) FROM pragma_foreign_key_check"},
  };
  for (const auto& [what, sql] : rules) {
    const int64_t found = Number(*db_, sql);
    if (found != 0) Violate(absl::StrCat("at the end there are ", found, " ", what));
  }
  superseded_ = Number(*db_, "SELECT count(*) FROM attempt WHERE state = 'superseded'");
}

}  // namespace dynbench::simulation
