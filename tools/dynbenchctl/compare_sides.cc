#include "tools/dynbenchctl/compare_sides.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/plan/nearest.h"
#include "common/plan/pairs.h"
#include "tools/dynbenchctl/arguments.h"

namespace dynbench::cli {
namespace {

// Host and build are the same for every row of one lease and environment: one question each.
class Provenances {
 public:
  explicit Provenances(Source& source) : source_(source) {}

  absl::Status AddTo(judge::Process* process) {
    const store::ResultRow& row = process->row;
    if (!row.result || !row.lease) return absl::OkStatus();
    const auto [entry, added] =
        known_.try_emplace({row.lease.value, row.experiment.environment}, Known{});
    if (added) {
      ASSIGN_OR_RETURN(const ExperimentView view, source_.Experiment(row.id));
      entry->second = {judge::HostFacts(view.inventory_json),
                       judge::BuildFacts(view.environment_json)};
    }
    process->host = entry->second.host;
    process->build = entry->second.build;
    return absl::OkStatus();
  }

 private:
  struct Known {
    judge::Facts host, build;
  };
  Source& source_;
  std::map<std::pair<int64_t, std::string>, Known> known_;
};

std::string NameOf(const SideSpec& spec, const std::set<std::string>& environments,
                   const std::vector<std::string>& labels) {
  std::string name = spec.jobs.size() == 1 ? "job " : "jobs ";
  name += absl::StrJoin(spec.jobs, ", ",
                        [](std::string* out, JobId id) { out->append(std::to_string(id.value)); });
  if (!labels.empty()) name += " (" + absl::StrJoin(labels, ", ") + ")";
  if (environments.size() == 1) name += ", environment " + *environments.begin();
  return name;
}

absl::Status CheckEnvironments(const SideSpec& spec, const std::set<std::string>& environments,
                               bool found) {
  const std::string has = absl::StrJoin(environments, ", ");
  if (!spec.environment.empty() && !found) {
    return absl::NotFoundError("the jobs have no environment '" + spec.environment +
                               "'; they have " + has);
  }
  if (spec.environment.empty() && environments.size() > 1) {
    return absl::InvalidArgumentError("the jobs of one side have the environments " + has +
                                      "; name one: " + std::to_string(spec.jobs.front().value) +
                                      ":" + *environments.begin());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SideSpec> ParseSide(const std::string& text) {
  SideSpec spec;
  const size_t colon = text.find(':');
  if (colon != std::string::npos) {
    spec.environment = text.substr(colon + 1);
    if (spec.environment.empty()) {
      return absl::InvalidArgumentError("'" + text + "' names no environment after the colon");
    }
  }
  for (const std::string& word :
       std::vector<std::string>(absl::StrSplit(text.substr(0, colon), ','))) {
    ASSIGN_OR_RETURN(const JobId job, ParseJobId(word));
    if (std::find(spec.jobs.begin(), spec.jobs.end(), job) != spec.jobs.end()) {
      return absl::InvalidArgumentError("job " + word + " is named twice on one side");
    }
    spec.jobs.push_back(job);
  }
  return spec;
}

absl::StatusOr<judge::Side> LoadSide(Source& source, const SideSpec& spec, bool samples) {
  judge::Side side;
  Provenances provenances(source);
  std::set<std::string> environments;
  std::vector<std::string> labels;
  bool found = false;
  for (const JobId job : spec.jobs) {
    ASSIGN_OR_RETURN(const JobView view, source.GetJob(job));
    if (!view.job.label.empty() &&
        std::find(labels.begin(), labels.end(), view.job.label) == labels.end()) {
      labels.push_back(view.job.label);
    }
    ASSIGN_OR_RETURN(auto rows, source.Results(job, samples));
    for (RowView& row : rows) {
      const std::string& environment = row.row.experiment.environment;
      environments.insert(environment);
      if (!spec.environment.empty() && environment != spec.environment) continue;
      found = true;
      judge::Process process;
      process.row = std::move(row.row);
      RETURN_IF_ERROR(provenances.AddTo(&process));
      side.processes.push_back(std::move(process));
    }
  }
  RETURN_IF_ERROR(CheckEnvironments(spec, environments, found));
  if (!spec.environment.empty()) environments = {spec.environment};
  side.name = NameOf(spec, environments, labels);
  return side;
}

absl::StatusOr<std::vector<judge::NoiseFloor>> LoadFloors(Source& source) {
  ASSIGN_OR_RETURN(const auto rows, source.NoiseFloors(JobId()));
  std::vector<judge::NoiseFloor> floors;
  for (const store::NoiseFloorRow& row : rows) {
    const auto metric = judge::ParseMetric(row.metric);
    if (!metric) continue;  // of a newer coordinator
    floors.push_back({row.series,
                      row.worker_host,
                      *metric,
                      {row.between_variance, row.degrees_of_freedom},
                      row.within_variance,
                      row.processes});
  }
  return floors;
}

absl::StatusOr<PairSides> LoadPairJob(Source& source, JobId job, bool samples) {
  ASSIGN_OR_RETURN(const JobView view, source.GetJob(job));
  ASSIGN_OR_RETURN(auto rows, source.Results(job, samples));
  PairSides sides;
  Provenances provenances(source);
  std::string base_environment, fresh_environment;
  for (RowView& row : rows) {
    const plan::Experiment& e = row.row.experiment;
    if (e.pair == 0) {
      return absl::InvalidArgumentError("job " + std::to_string(job.value) +
                                        " is no pair job (submit --base ENV --new ENV); name "
                                        "the job to compare it with: compare BASE NEW");
    }
    const bool fresh = e.side == plan::kNewSide;
    (fresh ? fresh_environment : base_environment) = e.environment;
    judge::Process process;
    process.row = std::move(row.row);
    RETURN_IF_ERROR(provenances.AddTo(&process));
    (fresh ? sides.fresh : sides.base).processes.push_back(std::move(process));
  }
  const SideSpec spec{{job}, ""};
  std::vector<std::string> labels;
  if (!view.job.label.empty()) labels.push_back(view.job.label);
  sides.base.name = NameOf(spec, {base_environment}, labels);
  sides.fresh.name = NameOf(spec, {fresh_environment}, labels);
  return sides;
}

}  // namespace dynbench::cli
