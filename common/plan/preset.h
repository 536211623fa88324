// Presets (suites/presets/*.yaml): named lists of submissions, such as what a dashboard runs in a
// night. A preset is data only: whoever submits it (dynbenchctl submit --preset NAME) fills in
// whose the jobs are and where they run, and submits each request as a job of its own, in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/request.h"

namespace dynbench::plan {

struct Preset {
  std::string name;
  std::string description;
  std::string source;                // what upstream runs so; may be empty
  std::vector<Request> submissions;  // in the order of the file; never empty
};

// Errors as in suite.h: file:line:column, object, rule, fix. Names of suites, configurations and
// profiles are checked by the catalog (common/plan/catalog.h), which knows them.
absl::StatusOr<Preset> ParsePreset(std::string_view text, std::string_view file_name);

}  // namespace dynbench::plan
