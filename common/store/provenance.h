// What an experiment was measured on and with, as it was then: a worker's inventory and
// environments may have changed since.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/store/store.h"

namespace dynbench::store {

struct Provenance {
  std::string inventory_json;    // of the lease; empty while there is none
  std::string environment_json;  // of the attempt; empty when the worker did not know the name
};

// Of the result's attempt, else of the running one. NotFound: there is no such experiment.
absl::StatusOr<Provenance> GetProvenance(Database& db, ExperimentId experiment);

}  // namespace dynbench::store
