#include "coordinator/control/results.h"

#include <utility>

#include "common/base/status.h"
#include "common/store/provenance.h"
#include "coordinator/session/rows.h"
#include "proto/dynbench/convert.h"

namespace dynbench::control {

absl::StatusOr<bool> RowWalk::Next(store::Database& db,
                                   google::protobuf::RepeatedPtrField<v1::ResultRow>* rows) {
  if (!std::exchange(begun_, true)) {
    RETURN_IF_ERROR(store::GetJob(db, job_).status());
    ASSIGN_OR_RETURN(phases_, context_->dispatcher->ViewPhases(job_));
  }
  // Rows with samples are large: fetched in small steps until the page is full.
  const int64_t step = with_samples_ ? 20 : kPageRows;
  size_t bytes = 0;
  while (rows->size() < kPageRows && bytes < kPageBytes) {
    ASSIGN_OR_RETURN(auto found, store::ListResults(db, job_, after_, step, with_samples_,
                                                    store::RowDetail::kPlanAsText));
    if (found.empty()) break;
    for (const store::ResultRow& row : found) {
      v1::ResultRow& out = *rows->Add();
      out = session::ToProto(row);
      if (const auto phase = phases_.find(row.id); phase != phases_.end()) {
        if (row.state == "running") out.set_phase(phase->second);
      }
      bytes += out.ByteSizeLong();
      after_ = row.id;
    }
  }
  return !rows->empty();
}

absl::StatusOr<v1::ExperimentDetail> LoadExperiment(const Context& context, store::Database& db,
                                                    ExperimentId experiment) {
  ASSIGN_OR_RETURN(const store::ResultRow row, store::GetExperiment(db, experiment));
  ASSIGN_OR_RETURN(const auto attempts, store::ListAttempts(db, experiment));
  v1::ExperimentDetail detail;
  *detail.mutable_row() = session::ToProto(row);
  detail.set_job(row.job.value);
  for (const store::AttemptRow& attempt : attempts) {
    v1::Attempt& out = *detail.add_attempts();
    *out.mutable_id() = proto::ToProto(attempt.id);
    out.set_worker(attempt.worker.value);
    out.set_slot(attempt.slot);
    out.set_state(attempt.state);
    out.set_reason(attempt.reason);
    out.set_started_unix_ms(attempt.started_at.ms);
    out.set_finished_unix_ms(attempt.finished_at.ms);
  }
  if (row.state != "done") {
    ASSIGN_OR_RETURN(const auto reasons, context.dispatcher->ExplainWaiting(experiment));
    for (const std::string& reason : reasons) detail.add_waiting_reasons(reason);
  }
  if (row.state == "running") {
    ASSIGN_OR_RETURN(auto phases, context.dispatcher->ViewPhases(row.job));
    detail.mutable_row()->set_phase(phases[experiment]);
  }
  ASSIGN_OR_RETURN(const store::Provenance provenance, store::GetProvenance(db, experiment));
  detail.set_inventory_json(provenance.inventory_json);
  detail.set_environment_json(provenance.environment_json);
  return detail;
}

}  // namespace dynbench::control
