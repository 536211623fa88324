// Expansion of a request into its plan: model list (partition, filters, names, skip rules with
// reasons) x modes x tests x configurations x precisions x environments x starts.
//
// Pure: everything it depends on is an argument.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/catalog.h"
#include "common/plan/experiment.h"
#include "common/plan/request.h"

namespace dynbench::plan {

// What the plan may ask about the fleet.
struct FleetFacts {
  std::string default_device = "cpu";  // the accelerator if a worker has one
  std::string arch = "x86_64";         // of the workers that have that device
};

// Expected seconds of an experiment, from history; used by `balanced` and for the ETA.
using Predictor = std::function<double(const Experiment&)>;

struct Plan {
  std::vector<Experiment> experiments;  // in order: partition, model, mode, test, configuration …
  std::vector<std::string> warnings;    // e.g. a name in --batch-size-file that no model has
  int partitions = 1;
};

// InvalidArgument (the CLI's exit 2) for: an unknown suite, model (with the nearest names, also of
// other suites), configuration or profile; a filter that is no regex; a partition id outside
// [0, total); an option without effect (e.g. --freezing with training only, --repeat with accuracy
// only, --batch-size-file with --batch-size). Nothing is half done.
absl::StatusOr<Plan> Expand(const Request& request, const Catalog& catalog, const FleetFacts& fleet,
                            const Predictor& predict);

}  // namespace dynbench::plan
