// Options of measuring and compiling that contradict each other or would have no effect, whatever
// the models are. Private to request_check.cc. Pure.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "common/plan/configuration.h"
#include "common/plan/request.h"

namespace dynbench::plan {

// InvalidArgument names the option, the rule and the fix.
absl::Status CheckMeasuring(const Request& request,
                            const std::vector<Configuration>& configurations);
absl::Status CheckCompiling(const Request& request,
                            const std::vector<Configuration>& configurations);

}  // namespace dynbench::plan
