// Options that turn out to have no effect once it is known which models are meant: a choice that is
// accepted and then ignored misleads. request_check.h and option_check.h find what needs no models.
// Pure.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "common/plan/experiment.h"
#include "common/plan/request.h"
#include "common/plan/selection.h"
#include "common/plan/suite.h"

namespace dynbench::plan {

// InvalidArgument names the option, why it has no effect and the fix. `suite` is null for path
// models alone.
absl::Status CheckSuiteOptions(const Request& request, const Suite* suite,
                               const std::vector<SelectedModel>& models);

// The same with the rows that were planned from `models`.
absl::Status CheckEffects(const Request& request, const std::vector<SelectedModel>& models,
                          const std::vector<Experiment>& rows);

// The models whose own batch size the request cannot change, though it gives one.
std::vector<std::string> WithOwnBatchSize(const Request& request,
                                          const std::vector<SelectedModel>& models);

}  // namespace dynbench::plan
