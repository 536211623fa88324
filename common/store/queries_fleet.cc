#include <algorithm>

#include "common/base/status.h"
#include "common/store/blob.h"
#include "common/store/queries.h"
#include "common/store/query_rows.h"
#include "common/store/statement.h"

namespace dynbench::store {
namespace {

// Enough for weeks of nights, and read in a fraction of a second at a start of the coordinator.
constexpr int kDurationWindow = 50'000;

absl::StatusOr<LeaseEpoch> LastEpoch(Database& db) {
  Statement query(db, "SELECT seq FROM sqlite_sequence WHERE name = 'lease'");
  ASSIGN_OR_RETURN(const bool row, query.Step());
  return LeaseEpoch(row ? query.Int(0) : 0);
}

absl::Status LoadOpenExperiments(Database& db, std::vector<OpenExperiment>* experiments) {
  Statement query(db,
                  "SELECT e.id, e.job, p.plan, e.lease, l.worker, l.slot, e.state = 'running'"
                  " FROM experiment e INDEXED BY experiment_open"
                  " JOIN experiment_plan p ON p.experiment = e.id"
                  " LEFT JOIN lease l ON l.epoch = e.lease"
                  " WHERE e.state <> 'done' ORDER BY e.id");
  return ForEachRow(query, [&](const Statement& row) {
    OpenExperiment open;
    open.id = ExperimentId(row.Int(0));
    open.job = JobId(row.Int(1));
    ASSIGN_OR_RETURN(open.experiment, plan::ExperimentFromJson(row.Text(2)));
    open.lease = LeaseEpoch(row.Int(3));
    open.slot = {WorkerId(row.Text(4)), static_cast<int>(row.Int(5))};
    open.started = row.Int(6) != 0;
    experiments->push_back(std::move(open));
    return absl::OkStatus();
  });
}

// `experiments` is in the order of ids.
absl::Status LoadEarlierAttempts(Database& db, std::vector<OpenExperiment>* experiments) {
  Statement query(db,
                  "SELECT a.experiment, a.cause, l.worker, l.slot"
                  " FROM experiment e INDEXED BY experiment_open"
                  " JOIN attempt a ON a.experiment = e.id AND a.cause <> ''"
                  " JOIN lease l ON l.epoch = a.lease"
                  " WHERE e.state <> 'done' ORDER BY a.experiment, a.lease");
  return ForEachRow(query, [&](const Statement& row) {
    const ExperimentId id(row.Int(0));
    const auto open = std::lower_bound(
        experiments->begin(), experiments->end(), id,
        [](const OpenExperiment& e, const ExperimentId& wanted) { return e.id < wanted; });
    if (open == experiments->end() || open->id != id) return absl::OkStatus();
    const std::string cause = row.Text(1);
    const SlotId slot{WorkerId(row.Text(2)), static_cast<int>(row.Int(3))};
    if (cause == "crash") {
      ++open->crashes;
      return absl::OkStatus();
    }
    open->avoid = slot.worker;
    if (cause == "phase_limit") {
      ++open->phase_limits;
    } else {
      ++open->infrastructure_failures;
      open->failed_on.push_back(slot);
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<std::vector<WorkerInfo>> ListWorkers(Database& db) {
  Statement query(
      db,
      "SELECT w.id, w.host, w.version, f.inventory, w.environments,"
      " w.first_seen_unix_ms, w.last_seen_unix_ms, w.labels, w.clock_skew_ms FROM worker w"
      " JOIN fingerprint f ON f.hash = w.fingerprint ORDER BY w.host, w.id");
  std::vector<WorkerInfo> workers;
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    workers.push_back({WorkerId(row.Text(0)),
                       row.Text(1),
                       row.Text(2),
                       row.Text(3),
                       row.Text(4),
                       {row.Int(5)},
                       {row.Int(6)},
                       row.Text(7),
                       row.Int(8)});
    return absl::OkStatus();
  }));
  return workers;
}

absl::StatusOr<OpenWork> LoadOpenWork(Database& db) {
  OpenWork work;
  Statement jobs(db, absl::StrCat(kJobSelect, " WHERE j.state = 'running' ORDER BY j.id"));
  RETURN_IF_ERROR(ForEachRow(jobs, [&](const Statement& row) {
    work.jobs.push_back(ReadJob(row));
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(LoadOpenExperiments(db, &work.experiments));
  RETURN_IF_ERROR(LoadEarlierAttempts(db, &work.experiments));
  ASSIGN_OR_RETURN(work.last_epoch, LastEpoch(db));
  return work;
}

absl::StatusOr<std::vector<PastDuration>> LoadDurations(Database& db) {
  Statement query(db,
                  "SELECT e.series, e.suite, e.model, e.test, e.start,"
                  " (r.finished_unix_ms - r.started_unix_ms) / 1000.0, l.worker, r.phases"
                  " FROM result r JOIN experiment e ON e.id = r.experiment"
                  " LEFT JOIN lease l ON l.epoch = r.lease"
                  " WHERE r.outcome = 'passed' AND r.started_unix_ms > 0"
                  " AND r.finished_unix_ms >= r.started_unix_ms"
                  " ORDER BY r.experiment DESC LIMIT ?");
  query.Bind(kDurationWindow);
  std::vector<PastDuration> past;
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    past.push_back({row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.Text(4), row.Real(5),
                    WorkerId(row.Text(6))});
    ASSIGN_OR_RETURN(past.back().phases, DecodePhases(row.Text(7)));
    return absl::OkStatus();
  }));
  std::reverse(past.begin(), past.end());
  return past;
}

absl::StatusOr<std::vector<KnownSlot>> ListSlots(Database& db) {
  Statement query(db, "SELECT worker, number, device FROM slot ORDER BY worker, number");
  std::vector<KnownSlot> slots;
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    slots.push_back({{WorkerId(row.Text(0)), static_cast<int>(row.Int(1))}, row.Text(2)});
    return absl::OkStatus();
  }));
  return slots;
}

}  // namespace dynbench::store
