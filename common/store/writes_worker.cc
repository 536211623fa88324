#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/store/statement.h"
#include "common/store/writes.h"
#include "nlohmann/json.hpp"

namespace dynbench::store {
namespace {

using nlohmann::json;

std::string TextOf(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

absl::Status ReplaceSlots(Database& db, const WorkerRow& worker) {
  Statement clear(db, "DELETE FROM slot WHERE worker = ?");
  RETURN_IF_ERROR(clear.Bind(worker.id).Run());
  for (size_t i = 0; i < worker.slot_devices.size(); ++i) {
    Statement insert(db, "INSERT INTO slot(worker, number, device) VALUES (?, ?, ?)");
    RETURN_IF_ERROR(insert.Bind(worker.id, static_cast<int64_t>(i), worker.slot_devices[i]).Run());
  }
  return absl::OkStatus();
}

absl::Status ReplaceEnvironments(Database& db, const WorkerRow& worker, const json& environments,
                                 UnixTimeMs now) {
  Statement clear(db, "DELETE FROM worker_environment WHERE worker = ?");
  RETURN_IF_ERROR(clear.Bind(worker.id).Run());
  for (const json& environment : environments) {
    if (!environment.is_object()) continue;
    const std::string hash = TextOf(environment, "hash");
    if (hash.empty()) continue;
    Statement insert(db,
                     "INSERT INTO environment(hash, torch_version, details, first_seen_unix_ms)"
                     " VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
    RETURN_IF_ERROR(insert
                        .Bind(hash, TextOf(environment, "torch_version"),
                              environment.dump(-1, ' ', false, json::error_handler_t::replace), now)
                        .Run());
    Statement name(db,
                   "INSERT OR REPLACE INTO worker_environment(worker, name, environment)"
                   " VALUES (?, ?, ?)");
    RETURN_IF_ERROR(name.Bind(worker.id, TextOf(environment, "name"), hash).Run());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UpsertWorker(Database& db, const WorkerRow& worker, UnixTimeMs now) {
  const json environments = worker.environments_json.empty()
                                ? json::array()
                                : json::parse(worker.environments_json, nullptr, false);
  if (!environments.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat("worker ", worker.id.value, ": its environments are no JSON array"));
  }
  const std::string fingerprint = Sha256Hex(worker.inventory_json);
  Statement insert_fingerprint(db,
                               "INSERT INTO fingerprint(hash, inventory, first_seen_unix_ms)"
                               " VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  RETURN_IF_ERROR(insert_fingerprint.Bind(fingerprint, worker.inventory_json, now).Run());
  Statement upsert(db,
                   "INSERT INTO worker(id, host, version, fingerprint, environments,"
                   " first_seen_unix_ms, last_seen_unix_ms, labels, clock_skew_ms)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8)"
                   " ON CONFLICT(id) DO UPDATE SET host = ?2, version = ?3, fingerprint = ?4,"
                   " environments = ?5, last_seen_unix_ms = ?6, labels = ?7, clock_skew_ms = ?8");
  RETURN_IF_ERROR(upsert
                      .Bind(worker.id, worker.host, worker.version, fingerprint,
                            environments.dump(), now, worker.labels_json, worker.clock_skew_ms)
                      .Run());
  RETURN_IF_ERROR(ReplaceSlots(db, worker));
  return ReplaceEnvironments(db, worker, environments, now);
}

absl::Status RecordLastSeen(Database& db, const WorkerId& worker, UnixTimeMs seen,
                            int64_t clock_skew_ms) {
  Statement update(db,
                   "UPDATE worker SET last_seen_unix_ms = MAX(last_seen_unix_ms, ?2),"
                   " clock_skew_ms = ?3 WHERE id = ?1");
  return update.Bind(worker, seen, clock_skew_ms).Run();
}

}  // namespace dynbench::store
