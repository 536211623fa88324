#include "coordinator/session/learn_noise.h"

#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/judge/noise_floor.h"
#include "common/plan/pairs.h"
#include "common/store/noise_floors.h"
#include "common/store/queries.h"

namespace dynbench::session {

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

}  // namespace dynbench::session
