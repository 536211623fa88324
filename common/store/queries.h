// Every question that dynbench asks the store. Read only; used by the coordinator's control API and
// offline by `dynbenchctl --db FILE`, so that both give the same answers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/plan/experiment.h"
#include "common/plan/request.h"
#include "common/plan/result.h"
#include "common/store/store.h"

namespace dynbench::store {

// planned = passed + failed + skipped + lost + cancelled + waiting + running, always.
struct Coverage {
  int64_t planned = 0, passed = 0, failed = 0, skipped = 0, lost = 0, cancelled = 0, waiting = 0,
          running = 0;
};

struct JobRow {
  JobId id;
  std::string state;  // "running", "finished", "cancelled"
  std::string suite;
  std::string label;
  std::string user;
  std::string cancel_reason;
  JobId retries;
  UnixTimeMs submitted_at, finished_at;  // finished_at.ms == 0: not yet
  Coverage coverage;
  plan::PartitionPolicy policy = plan::PartitionPolicy::kDynamic;
  int priority = 0;
};

// kPlanAsText leaves `experiment` empty: parsing it takes longer than reading the row, and who only
// passes it on has it in `plan`.
enum class RowDetail { kWhole, kPlanAsText };

struct ResultRow {
  ExperimentId id;
  JobId job;
  std::string plan;  // canonical JSON of the experiment, as stored
  plan::Experiment experiment;
  std::string series;                  // plan::SeriesKey when it was submitted
  std::string state;                   // "waiting", "running" or "done"
  std::optional<plan::Result> result;  // of "done"
  int attempt = 0;                     // how many attempts were started
  WorkerId worker;                     // of the result or of the running attempt
  std::string worker_host;
  LeaseEpoch lease;
  int slot = 0;  // of the lease
  UnixTimeMs started_at, finished_at;

  // Of a pair (common/plan/pairs.h): planned, but the pair was decided without it. One a pair says
  // as much as a dozen, so tables leave them out.
  bool unneeded_round() const {
    return experiment.pair > 0 && !experiment.planned_outcome && !lease && result &&
           result->outcome == plan::Outcome::kSkipped;
  }
};

struct WorkerInfo {
  WorkerId id;
  std::string host, version, inventory_json, environments_json;
  UnixTimeMs first_seen, last_seen;
  std::string labels_json;
  int64_t clock_skew_ms = 0;
};

struct AttemptRow {
  AttemptId id;
  WorkerId worker;
  int slot = 0;
  std::string state;  // "leased", "running", "done", "superseded", "requeued"
  std::string reason;
  UnixTimeMs started_at, finished_at;
};

// Newest first; `limit` 0: all.
absl::StatusOr<std::vector<JobRow>> ListJobs(Database& db, int64_t limit);
absl::StatusOr<JobRow> GetJob(Database& db, JobId job);  // NotFound names the newest job there is
absl::StatusOr<plan::Request> GetRequest(Database& db, JobId job);
// Whether what it ran were rounds of pairs, as the first that was started says; false: nothing was.
// Without its request, which may bring a suite of megabytes along.
absl::StatusOr<bool> RanPairs(Database& db, JobId job);
// Rows of a job in plan order, after `after` (0: from the start), at most `limit`.
absl::StatusOr<std::vector<ResultRow>> ListResults(Database& db, JobId job, ExperimentId after,
                                                   int64_t limit, bool with_samples,
                                                   RowDetail detail = RowDetail::kWhole);
// Both are in it; 0: nothing is.
struct ExperimentRange {
  ExperimentId first, last;
};
// Of all experiments of a job; nearly all ids between are its own.
absl::StatusOr<ExperimentRange> RangeOf(Database& db, JobId job);
// The rows of a job within a range, without samples and with RowDetail::kPlanAsText, for who keeps
// none or reads parts on several threads. `visit` has each row until it returns, and its error ends
// the walk. An unknown job has no rows.
absl::Status VisitResults(Database& db, JobId job, const ExperimentRange& range,
                          const std::function<absl::Status(const ResultRow&)>& visit);
absl::StatusOr<ResultRow> GetExperiment(Database& db, ExperimentId experiment);
absl::StatusOr<std::vector<AttemptRow>> ListAttempts(Database& db, ExperimentId experiment);
// Of the result's attempt; of the last attempt that left one when no worker brought the result.
// Empty: nothing was written, or it is not done yet.
absl::StatusOr<std::string> GetLog(Database& db, ExperimentId experiment);
absl::StatusOr<std::vector<WorkerInfo>> ListWorkers(Database& db);
absl::StatusOr<std::string> GetFile(Database& db, const std::string& sha256);

// What the scheduler needs after a restart.
struct OpenExperiment {
  ExperimentId id;
  JobId job;
  plan::Experiment experiment;
  LeaseEpoch lease;  // live lease; 0: waiting
  SlotId slot;       // of the live lease
  bool started = false;
  // Earlier attempts that count: deaths of a worker, infrastructure failures, learned limits.
  int crashes = 0;
  int infrastructure_failures = 0;
  int phase_limits = 0;
  std::vector<SlotId> failed_on = {};  // where infrastructure failed it, the oldest first
  WorkerId avoid = {};                 // of the last attempt that it or a learned limit ended
};
struct OpenWork {
  std::vector<JobRow> jobs;  // with unfinished experiments, oldest first
  std::vector<OpenExperiment> experiments;
  LeaseEpoch last_epoch;  // highest ever given
};
absl::StatusOr<OpenWork> LoadOpenWork(Database& db);

// How long past results took and where, oldest first: what passed, of the newest 50,000.
struct PastDuration {
  std::string series, suite, model, test, start;
  double seconds = 0;
  WorkerId worker;
  std::vector<plan::PhaseSpan> phases = {};
};
absl::StatusOr<std::vector<PastDuration>> LoadDurations(Database& db);

// The devices that each worker offered when it last said hello.
struct KnownSlot {
  SlotId slot;
  std::string device;
};
absl::StatusOr<std::vector<KnownSlot>> ListSlots(Database& db);

}  // namespace dynbench::store
