// Where reading verbs get their answers: a coordinator, or a database file (--db) without a server.
// Both give the same structs, so that a verb prints the same whichever it was.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/formats/results_json.h"
#include "common/store/history.h"
#include "common/store/noise_floors.h"
#include "common/store/queries.h"
#include "common/store/slot_time.h"
#include "dynbench/v1/control.pb.h"
#include "tools/dynbenchctl/context.h"

namespace dynbench::cli {

// A job; without an ETA and without waiting reasons when it comes from a database.
using JobView = formats::JobProgress;

struct RowView {
  store::ResultRow row;
  std::string phase;  // of a running attempt; empty with --db
};

struct ExperimentView {
  RowView row;
  std::vector<store::AttemptRow> attempts;
  std::vector<std::string> waiting_reasons;
  std::string environment_json;  // of the worker that ran it; may be empty
  std::string inventory_json;
  std::string model_file;  // bytes of a path model's file, where the caller fetched them
};

struct SlotView {
  int index = 0;
  std::string device, device_name, cores, reason, busy_with;
  bool accepting = false;
  std::string state;     // one word for why not accepting
  std::string activity;  // what it does now
};

struct EnvironmentView {
  std::string name, torch_version, hash, python;
  std::vector<std::string> suites;
  std::vector<std::string> capabilities;
};

struct WorkerView {
  std::string id, host, version;
  bool connected = false;
  UnixTimeMs last_seen;
  std::vector<SlotView> slots;
  std::vector<EnvironmentView> environments;
  int spooled_results = 0;
  std::string state = "away";  // "connected", "draining", "drained", "quarantined"
  std::string reason;          // of the drain or quarantine
  bool degraded = false;
  int64_t clock_skew_ms = 0;
  std::map<std::string, std::string> labels;
};

class Source {
 public:
  virtual ~Source() = default;

  // "the coordinator at …" or "the database …", for messages.
  virtual std::string Name() const = 0;
  // Newest first; `limit` 0: the source's default of 50.
  virtual absl::StatusOr<std::vector<JobView>> Jobs(int64_t limit) = 0;
  virtual absl::StatusOr<JobView> GetJob(JobId job) = 0;
  // All rows of a job in plan order.
  virtual absl::StatusOr<std::vector<RowView>> Results(JobId job, bool with_samples) = 0;
  virtual absl::StatusOr<ExperimentView> Experiment(ExperimentId experiment) = 0;
  // Hands the log's bytes to `sink` as they come; with `follow` until the experiment has ended.
  virtual absl::Status Log(ExperimentId experiment, bool follow,
                           const std::function<void(std::string_view)>& sink) = 0;
  virtual absl::StatusOr<std::vector<WorkerView>> Workers() = 0;
  // Where slot time went between the two times.
  virtual absl::StatusOr<std::vector<store::SlotSeconds>> Idle(UnixTimeMs since,
                                                               UnixTimeMs until) = 0;
  // What A/A runs have shown; `job` 0: all of them.
  virtual absl::StatusOr<std::vector<store::NoiseFloorRow>> NoiseFloors(JobId job) = 0;
  // Results of the past (common/store/history.h). A coordinator that does not know the question yet
  // has none.
  virtual absl::StatusOr<store::History> History(const store::HistoryFilter& filter) = 0;
  virtual absl::StatusOr<store::History> HistorySince(UnixTimeMs since, int64_t limit) = 0;
  // Environments that were made for the fleet.
  virtual absl::StatusOr<std::vector<v1::FleetEnvironment>> FleetEnvironments() = 0;
  // The bytes of a model file that travelled with a job.
  virtual absl::StatusOr<std::string> File(const std::string& sha256) = 0;
};

// The database when --db was given, else the coordinator.
absl::StatusOr<std::unique_ptr<Source>> OpenSource(const Globals& globals);

// InvalidArgument when --db was given to a verb that asks or changes a running fleet.
absl::Status NeedsCoordinator(const Globals& globals, const std::string& verb);

}  // namespace dynbench::cli
