// Results of the past, by series or model over nights, or of every series since a moment, with the
// machine and the build that they were measured on. Read only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/queries.h"
#include "common/store/store.h"

namespace dynbench::store {

struct HistoryRow {
  ResultRow row;                 // passed or failed; without samples
  std::string fingerprint;       // key into History::inventories; empty: no worker brought it
  std::string environment_hash;  // empty: unknown
};

// What became of the attempts that a host began.
struct HostAttempts {
  std::string host;
  int64_t attempts = 0;
  int64_t failures = 0;  // that the infrastructure is to blame for
};

struct History {
  std::vector<HistoryRow> rows;                    // oldest first
  std::map<std::string, std::string> inventories;  // JSON of each fingerprint in `rows`
  std::vector<HostAttempts> hosts = {};            // of LoadHistorySince, by name
};

struct HistoryFilter {
  std::vector<std::string> series;  // of these; empty: of `model`
  std::string model;
  std::string suite;    // of `model`; empty: any
  ExperimentId up_to;   // not later than this one; 0: up to now
  int64_t newest = 10;  // rows of each series and environment
};

// Rounds of pair jobs and diagnostic reruns are no nights and are left out. InvalidArgument:
// neither series nor model.
absl::StatusOr<History> LoadHistory(Database& db, const HistoryFilter& filter);

// Performance results of jobs that were submitted since then, the newest `limit` of them; and what
// became of all attempts of these jobs, by host.
absl::StatusOr<History> LoadHistorySince(Database& db, UnixTimeMs since, int64_t limit);

}  // namespace dynbench::store
