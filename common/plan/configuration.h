// Named configurations (suites/configurations/*.yaml) and launch profiles (suites/profiles/*.yaml).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/experiment.h"

namespace dynbench::plan {

struct Configuration {
  std::string name;
  std::string description;
  CompileOptions options;
};

// What a process is started with; part of the series. Variables are set before the zygote imports
// torch; a profile is therefore another zygote.
struct LaunchProfile {
  std::string name;
  std::string description;
  std::map<std::string, std::string> environment;  // variables
  std::vector<std::string> preload;                // library names for LD_PRELOAD
};

// The name of an option that is set although the backend ignores it (inductor's switches with
// another backend; anything with "eager"), or empty.
std::string OptionWithoutEffect(const CompileOptions& options);

// Errors as in suite.h: file:line:column, object, rule, fix.
absl::StatusOr<Configuration> ParseConfiguration(std::string_view text, std::string_view file_name);
absl::StatusOr<LaunchProfile> ParseProfile(std::string_view text, std::string_view file_name);

}  // namespace dynbench::plan
