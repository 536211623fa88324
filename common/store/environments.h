// Environments that dynbench makes for the fleet: what they are made of, how far they are, and
// where they are. The writes run inside the caller's transaction, as those of writes.h do.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/store.h"

namespace dynbench::store {

// A row of fleet_environment; docs/schema.md.
struct FleetEnvironmentRow {
  std::string id, name, kind, state, reason, origin_json;
  WorkerId builder;
  int deaths = 0;
  std::string manifest, hash, libraries, torch_version;
  int64_t files = 0, size_bytes = 0;
  std::string log;
  UnixTimeMs created_at, finished_at;
};

struct EnvironmentPlaceRow {
  std::string environment;
  WorkerId worker;
  std::string state, reason;
  UnixTimeMs at;
  std::string host = {};  // of the worker, when it is loaded
};

struct FleetEnvironments {
  std::vector<FleetEnvironmentRow> environments;  // oldest first
  std::vector<EnvironmentPlaceRow> places;
};
absl::StatusOr<FleetEnvironments> LoadFleetEnvironments(Database& db);

// Inserts or replaces, by id.
absl::Status PutFleetEnvironment(Database& db, const FleetEnvironmentRow& row);
absl::Status PutEnvironmentPlace(Database& db, const EnvironmentPlaceRow& row);
absl::Status DeleteEnvironmentPlace(Database& db, const std::string& environment,
                                    const WorkerId& worker);
absl::Status DeleteEnvironmentPlaces(Database& db, const std::string& environment);

// Names of environments that an experiment waits for or runs in.
absl::StatusOr<std::set<std::string>> EnvironmentsInUse(Database& db);
// When the newest result of an environment of this name came; 0: there is none.
absl::StatusOr<UnixTimeMs> LastUseOfEnvironment(Database& db, const std::string& name);

}  // namespace dynbench::store
