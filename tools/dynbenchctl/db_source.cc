#include "tools/dynbenchctl/db_source.h"

#include <filesystem>
#include <utility>

#include "common/base/status.h"
#include "common/store/environments.h"
#include "common/store/holds.h"
#include "common/store/provenance.h"
#include "common/store/store.h"

namespace dynbench::cli {
namespace {

constexpr int64_t kPageRows = 1000;
constexpr int64_t kJobsDefault = 50;  // as the coordinator's

std::string Text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The environments that a worker reported last: [{name, torch_version, hash, …}].
// The strings of an array; none when there is no such array.
std::vector<std::string> Words(const nlohmann::json& item, const char* key) {
  std::vector<std::string> words;
  const auto found = item.find(key);
  if (found == item.end() || !found->is_array()) return words;
  for (const auto& word : *found) {
    if (word.is_string()) words.push_back(word.get<std::string>());
  }
  return words;
}

std::vector<EnvironmentView> EnvironmentsOf(const std::string& text) {
  std::vector<EnvironmentView> environments;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return environments;
  for (const nlohmann::json& item : json) {
    if (!item.is_object()) continue;
    environments.push_back({Text(item, "name"), Text(item, "torch_version"), Text(item, "hash"),
                            Text(item, "python"), Words(item, "suites"),
                            Words(item, "capabilities")});
  }
  return environments;
}

std::map<std::string, std::string> LabelsOf(const std::string& text) {
  std::map<std::string, std::string> labels;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return labels;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) labels[name] = value.get<std::string>();
  }
  return labels;
}

// As the coordinator says it of a worker that is away.
std::string ReasonOf(const store::HoldRows& holds, const WorkerId& worker) {
  for (const store::DrainRow& row : holds.drains) {
    if (row.worker == worker) return "drained: " + row.reason;
  }
  for (const store::QuarantineRow& row : holds.quarantines) {
    if (row.slot.worker != worker) continue;
    return "slot " + std::to_string(row.slot.index) + " quarantined: " + row.reason;
  }
  return "";
}

class DbSource : public Source {
 public:
  explicit DbSource(std::unique_ptr<store::Database> db) : db_(std::move(db)) {}

  std::string Name() const override { return "the database " + db_->path(); }

  absl::StatusOr<std::vector<JobView>> Jobs(int64_t limit) override {
    ASSIGN_OR_RETURN(auto rows, store::ListJobs(*db_, limit == 0 ? kJobsDefault : limit));
    std::vector<JobView> jobs;
    for (auto& row : rows) jobs.push_back({std::move(row), std::nullopt, {}});
    return jobs;
  }

  absl::StatusOr<JobView> GetJob(JobId job) override {
    ASSIGN_OR_RETURN(auto row, store::GetJob(*db_, job));
    return JobView{std::move(row), std::nullopt, {}};
  }

  absl::StatusOr<std::vector<RowView>> Results(JobId job, bool with_samples) override {
    RETURN_IF_ERROR(store::GetJob(*db_, job).status());
    std::vector<RowView> rows;
    ExperimentId after;
    while (true) {
      ASSIGN_OR_RETURN(auto page, store::ListResults(*db_, job, after, kPageRows, with_samples));
      if (page.empty()) return rows;
      after = page.back().id;
      for (auto& row : page) rows.push_back({std::move(row), ""});
    }
  }

  absl::StatusOr<ExperimentView> Experiment(ExperimentId experiment) override {
    ExperimentView view;
    ASSIGN_OR_RETURN(view.row.row, store::GetExperiment(*db_, experiment));
    ASSIGN_OR_RETURN(view.attempts, store::ListAttempts(*db_, experiment));
    ASSIGN_OR_RETURN(auto provenance, store::GetProvenance(*db_, experiment));
    view.inventory_json = std::move(provenance.inventory_json);
    view.environment_json = std::move(provenance.environment_json);
    return view;
  }

  absl::Status Log(ExperimentId experiment, bool follow,
                   const std::function<void(std::string_view)>& sink) override {
    if (follow) return absl::InvalidArgumentError("--follow needs a coordinator, not --db");
    ASSIGN_OR_RETURN(const std::string log, store::GetLog(*db_, experiment));
    sink(log);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<WorkerView>> Workers() override {
    ASSIGN_OR_RETURN(const auto rows, store::ListWorkers(*db_));
    ASSIGN_OR_RETURN(const store::HoldRows holds, store::LoadHolds(*db_));
    std::vector<WorkerView> workers;
    for (const store::WorkerInfo& row : rows) {
      WorkerView worker;
      worker.id = row.id.value;
      worker.host = row.host;
      worker.version = row.version;
      worker.last_seen = row.last_seen;
      worker.environments = EnvironmentsOf(row.environments_json);
      worker.clock_skew_ms = row.clock_skew_ms;
      worker.labels = LabelsOf(row.labels_json);
      worker.reason = ReasonOf(holds, row.id);
      workers.push_back(std::move(worker));
    }
    return workers;
  }

  absl::StatusOr<std::vector<v1::FleetEnvironment>> FleetEnvironments() override {
    ASSIGN_OR_RETURN(const auto all, store::LoadFleetEnvironments(*db_));
    std::vector<v1::FleetEnvironment> environments;
    for (const store::FleetEnvironmentRow& row : all.environments) {
      if (row.state == "removed") continue;
      v1::FleetEnvironment& to = environments.emplace_back();
      to.set_id(row.id);
      to.set_name(row.name);
      to.set_kind(row.kind);
      to.set_state(row.state);
      to.set_reason(row.reason);
      to.set_builder(row.builder.value);
      to.set_origin_json(row.origin_json);
      to.set_hash(row.hash);
      to.set_torch_version(row.torch_version);
      to.set_files(row.files);
      to.set_size_bytes(row.size_bytes);
      to.set_created_unix_ms(row.created_at.ms);
      to.set_finished_unix_ms(row.finished_at.ms);
      for (const store::EnvironmentPlaceRow& place : all.places) {
        if (place.environment != row.id) continue;
        v1::EnvironmentPlace& at = *to.add_places();
        at.set_worker(place.worker.value);
        at.set_host(place.host);
        at.set_state(place.state);
        at.set_reason(place.reason);
      }
    }
    return environments;
  }

  absl::StatusOr<std::vector<store::SlotSeconds>> Idle(UnixTimeMs since,
                                                       UnixTimeMs until) override {
    return store::SecondsByReason(*db_, since, until);
  }

  absl::StatusOr<std::vector<store::NoiseFloorRow>> NoiseFloors(JobId job) override {
    return store::ListNoiseFloors(*db_, job);
  }

  absl::StatusOr<store::History> History(const store::HistoryFilter& filter) override {
    return store::LoadHistory(*db_, filter);
  }

  absl::StatusOr<store::History> HistorySince(UnixTimeMs since, int64_t limit) override {
    return store::LoadHistorySince(*db_, since, limit);
  }

  absl::StatusOr<std::string> File(const std::string& sha256) override {
    return store::GetFile(*db_, sha256);
  }

 private:
  std::unique_ptr<store::Database> db_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Source>> MakeDbSource(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return absl::NotFoundError("--db " + path + ": there is no such file");
  }
  ASSIGN_OR_RETURN(auto db, store::Database::Open(path, store::Access::kReadOnly));
  return std::unique_ptr<Source>(std::make_unique<DbSource>(std::move(db)));
}

}  // namespace dynbench::cli
