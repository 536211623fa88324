#include "coordinator/session/learn_noise.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/judge/noise_floor.h"
#include "common/judge/pairing.h"
#include "common/plan/pairs.h"
#include "common/store/noise_floors.h"
#include "common/store/queries.h"

namespace dynbench::session {

namespace {

// As many may have ended within the moment in which a coordinator was killed; at each start their
// requests are read.
constexpr int kEndedAtMost = 100;

// Fewer degrees of freedom make no test possible (common/judge/verdict.cc).
constexpr double kDegreesLeast = 2;

// Of rounds that count: what came between the sides of another one is not how processes differ.
std::vector<judge::Process> OfRoundsThatCount(std::vector<store::ResultRow> rows) {
  judge::Side base, fresh;
  for (store::ResultRow& row : rows) {
    judge::Side& side = row.experiment.side == plan::kNewSide ? fresh : base;
    side.processes.push_back({std::move(row), {}, {}});
  }
  std::vector<judge::Process> processes;
  for (const judge::Pair& pair : judge::PairRounds(base, fresh).pairs) {
    for (const auto* side : {&pair.base, &pair.fresh}) {
      for (const judge::Process* process : *side) processes.push_back(*process);
    }
  }
  return processes;
}

// Those that know less than what is stored of the same.
absl::Status DropWorse(store::Database& db, std::vector<store::NoiseFloorRow>* floors) {
  ASSIGN_OR_RETURN(const auto stored, store::ListNoiseFloors(db));
  std::map<std::tuple<std::string, std::string, std::string>, double> degrees;
  for (const store::NoiseFloorRow& f : stored) {
    degrees[{f.series, f.worker_host, f.metric}] = f.degrees_of_freedom;
  }
  std::erase_if(*floors, [&](const store::NoiseFloorRow& f) {
    return f.degrees_of_freedom < degrees[{f.series, f.worker_host, f.metric}];
  });
  return absl::OkStatus();
}

}  // namespace

bool IsCalibration(const plan::Request& request) {
  return plan::IsPairJob(request) && request.base == request.fresh;
}

absl::Status LearnNoise(store::Database& db, JobId job, UnixTimeMs now) {
  ASSIGN_OR_RETURN(auto rows, store::ListResults(db, job, ExperimentId(), 0, false));
  ASSIGN_OR_RETURN(const store::JobRow of_job, store::GetJob(db, job));
  std::vector<store::NoiseFloorRow> floors;
  for (const judge::NoiseFloor& f : judge::FloorsOf(OfRoundsThatCount(std::move(rows)))) {
    if (f.between.degrees_of_freedom < kDegreesLeast) continue;
    floors.push_back({f.series, f.worker_host, std::string(judge::ToString(f.metric)),
                      f.between.variance, f.between.degrees_of_freedom, f.within, f.processes, job,
                      now});
  }
  // A run that was cancelled early is no news of what a whole one has shown.
  if (of_job.state == "cancelled") RETURN_IF_ERROR(DropWorse(db, &floors));
  return store::PutNoiseFloors(db, floors);
}

absl::StatusOr<std::vector<JobId>> CalibrationsToLearn(store::Database& reader) {
  ASSIGN_OR_RETURN(const auto ended, store::EndedSinceNoiseFloors(reader, kEndedAtMost));
  std::vector<JobId> calibrations;
  for (const JobId job : ended) {
    ASSIGN_OR_RETURN(const bool of_pairs, store::RanPairs(reader, job));
    if (!of_pairs) continue;
    // One that this version cannot read is no reason not to start.
    const auto request = store::GetRequest(reader, job);
    if (request.ok() && IsCalibration(*request)) calibrations.push_back(job);
  }
  return calibrations;
}

}  // namespace dynbench::session
