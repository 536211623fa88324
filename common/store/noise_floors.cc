#include "common/store/noise_floors.h"

#include "common/base/status.h"
#include "common/store/query_rows.h"
#include "common/store/statement.h"

namespace dynbench::store {

absl::Status PutNoiseFloors(Database& db, const std::vector<NoiseFloorRow>& floors) {
  Statement put(db,
                "INSERT OR REPLACE INTO noise_floor(series, worker_host, metric, between_variance,"
                " degrees_of_freedom, within_variance, processes, job, measured_unix_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const NoiseFloorRow& f : floors) {
    RETURN_IF_ERROR(put.Bind(f.series, f.worker_host, f.metric, f.between_variance,
                             f.degrees_of_freedom, f.within_variance, f.processes, f.job,
                             f.measured_at)
                        .Run());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NoiseFloorRow>> ListNoiseFloors(Database& db, JobId job) {
  std::vector<NoiseFloorRow> floors;
  Statement select(db,
                   "SELECT series, worker_host, metric, between_variance, degrees_of_freedom,"
                   " within_variance, processes, job, measured_unix_ms FROM noise_floor"
                   " WHERE ?1 = 0 OR job = ?1 ORDER BY series, worker_host, metric");
  select.Bind(job);
  RETURN_IF_ERROR(ForEachRow(select, [&](const Statement& row) {
    floors.push_back({row.Text(0),
                      row.Text(1),
                      row.Text(2),
                      row.Real(3),
                      row.Real(4),
                      row.Real(5),
                      static_cast<int>(row.Int(6)),
                      JobId(row.Int(7)),
                      {row.Int(8)}});
    return absl::OkStatus();
  }));
  return floors;
}

absl::StatusOr<std::vector<JobId>> EndedSinceNoiseFloors(Database& db, int most) {
  std::vector<JobId> jobs;
  Statement select(
      db,
      "SELECT id FROM (SELECT id, finished_unix_ms FROM job WHERE state <> 'running'"
      " AND finished_unix_ms >= coalesce((SELECT max(measured_unix_ms) FROM noise_floor), 0)"
      " ORDER BY finished_unix_ms DESC, id DESC LIMIT ?) AS ended"
      " WHERE NOT EXISTS (SELECT 1 FROM noise_floor f WHERE f.job = ended.id)"
      " ORDER BY finished_unix_ms, id");
  select.Bind(most);
  RETURN_IF_ERROR(ForEachRow(select, [&](const Statement& row) {
    jobs.emplace_back(row.Int(0));
    return absl::OkStatus();
  }));
  return jobs;
}

}  // namespace dynbench::store
