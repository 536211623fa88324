#include "coordinator/session/learn_noise.h"

#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/judge/noise_floor.h"
#include "common/plan/pairs.h"
#include "common/store/noise_floors.h"
#include "common/store/queries.h"

namespace dynbench::session {

namespace {

// As many may have ended within the moment in which a coordinator was killed; at each start their
// requests are read.
constexpr int kEndedAtMost = 100;

}  // namespace

bool IsCalibration(const plan::Request& request) {
  return plan::IsPairJob(request) && request.base == request.fresh;
}

absl::Status LearnNoise(store::Database& db, JobId job, UnixTimeMs now) {
  ASSIGN_OR_RETURN(auto rows, store::ListResults(db, job, ExperimentId(), 0, false));
  std::vector<judge::Process> processes;
  processes.reserve(rows.size());
  for (store::ResultRow& row : rows) processes.push_back({std::move(row), {}, {}});
  std::vector<store::NoiseFloorRow> floors;
  for (const judge::NoiseFloor& f : judge::FloorsOf(processes)) {
    floors.push_back({f.series, f.worker_host, std::string(judge::ToString(f.metric)),
                      f.between.variance, f.between.degrees_of_freedom, f.within, f.processes, job,
                      now});
  }
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
