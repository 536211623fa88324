#include "common/store/environments.h"

#include "common/base/status.h"
#include "common/store/query_rows.h"
#include "common/store/statement.h"

namespace dynbench::store {

absl::StatusOr<FleetEnvironments> LoadFleetEnvironments(Database& db) {
  FleetEnvironments all;
  Statement environments(
      db,
      "SELECT id, name, kind, state, reason, origin, builder, deaths, manifest, hash, libraries,"
      " torch_version, files, size_bytes, log, created_unix_ms, finished_unix_ms"
      " FROM fleet_environment ORDER BY created_unix_ms, id");
  RETURN_IF_ERROR(ForEachRow(environments, [&](const Statement& row) {
    FleetEnvironmentRow& to = all.environments.emplace_back();
    to.id = row.Text(0);
    to.name = row.Text(1);
    to.kind = row.Text(2);
    to.state = row.Text(3);
    to.reason = row.Text(4);
    to.origin_json = row.Text(5);
    to.builder = WorkerId(row.Text(6));
    to.deaths = static_cast<int>(row.Int(7));
    to.manifest = row.Text(8);
    to.hash = row.Text(9);
    to.libraries = row.Text(10);
    to.torch_version = row.Text(11);
    to.files = row.Int(12);
    to.size_bytes = row.Int(13);
    to.log = row.Text(14);
    to.created_at = {row.Int(15)};
    to.finished_at = {row.Int(16)};
    return absl::OkStatus();
  }));
  Statement places(db,
                   "SELECT p.environment, p.worker, p.state, p.reason, p.at_unix_ms, w.host"
                   " FROM fleet_environment_worker p LEFT JOIN worker w ON w.id = p.worker"
                   " ORDER BY p.environment, p.worker");
  RETURN_IF_ERROR(ForEachRow(places, [&](const Statement& row) {
    all.places.push_back(
        {row.Text(0), WorkerId(row.Text(1)), row.Text(2), row.Text(3), {row.Int(4)}, row.Text(5)});
    return absl::OkStatus();
  }));
  return all;
}

absl::Status PutFleetEnvironment(Database& db, const FleetEnvironmentRow& r) {
  Statement put(
      db,
      "INSERT INTO fleet_environment(id, name, kind, state, reason, origin, builder, deaths,"
      " manifest, hash, libraries, torch_version, files, size_bytes, log, created_unix_ms,"
      " finished_unix_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
      " ?15, ?16, ?17) ON CONFLICT(id) DO UPDATE SET state = ?4, reason = ?5, origin = ?6,"
      " builder = ?7, deaths = ?8, manifest = ?9, hash = ?10, libraries = ?11,"
      " torch_version = ?12, files = ?13, size_bytes = ?14, log = ?15, created_unix_ms = ?16,"
      " finished_unix_ms = ?17");
  return put
      .Bind(r.id, r.name, r.kind, r.state, r.reason, r.origin_json, r.builder, r.deaths, r.manifest,
            r.hash, r.libraries, r.torch_version, r.files, r.size_bytes, Blob{r.log}, r.created_at,
            r.finished_at)
      .Run();
}

absl::Status PutEnvironmentPlace(Database& db, const EnvironmentPlaceRow& row) {
  Statement put(db,
                "INSERT OR REPLACE INTO fleet_environment_worker"
                "(environment, worker, state, reason, at_unix_ms) VALUES (?, ?, ?, ?, ?)");
  return put.Bind(row.environment, row.worker, row.state, row.reason, row.at).Run();
}

absl::Status DeleteEnvironmentPlace(Database& db, const std::string& environment,
                                    const WorkerId& worker) {
  Statement remove(db, "DELETE FROM fleet_environment_worker WHERE environment = ? AND worker = ?");
  return remove.Bind(environment, worker).Run();
}

absl::Status DeleteEnvironmentPlaces(Database& db, const std::string& environment) {
  Statement remove(db, "DELETE FROM fleet_environment_worker WHERE environment = ?");
  return remove.Bind(environment).Run();
}

absl::StatusOr<std::set<std::string>> EnvironmentsInUse(Database& db) {
  std::set<std::string> names;
  Statement query(db, "SELECT DISTINCT environment FROM experiment WHERE state <> 'done'");
  RETURN_IF_ERROR(ForEachRow(query, [&](const Statement& row) {
    names.insert(row.Text(0));
    return absl::OkStatus();
  }));
  return names;
}

absl::StatusOr<UnixTimeMs> LastUseOfEnvironment(Database& db, const std::string& name) {
  Statement query(db,
                  "SELECT max(r.received_unix_ms) FROM experiment e"
                  " JOIN result r ON r.experiment = e.id WHERE e.environment = ?");
  query.Bind(name);
  ASSIGN_OR_RETURN(const bool row, query.Step());
  return UnixTimeMs{row && !query.IsNull(0) ? query.Int(0) : 0};
}

}  // namespace dynbench::store
