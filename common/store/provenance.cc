#include "common/store/provenance.h"

#include "common/base/status.h"
#include "common/store/statement.h"

namespace dynbench::store {

absl::StatusOr<Provenance> GetProvenance(Database& db, ExperimentId experiment) {
  Statement query(db,
                  "SELECT f.inventory, v.details FROM experiment e"
                  " LEFT JOIN result r ON r.experiment = e.id"
                  " LEFT JOIN lease l ON l.epoch = coalesce(r.lease, e.lease)"
                  " LEFT JOIN fingerprint f ON f.hash = l.fingerprint"
                  " LEFT JOIN attempt a ON a.experiment = e.id AND a.lease = l.epoch"
                  " LEFT JOIN environment v ON v.hash = a.environment WHERE e.id = ?");
  query.Bind(experiment.value);
  ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) {
    return absl::NotFoundError(absl::StrCat("there is no experiment ", experiment.value));
  }
  return Provenance{query.Text(0), query.Text(1)};
}

}  // namespace dynbench::store
