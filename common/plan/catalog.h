// The installed suites, configurations and profiles: a folder with *.yaml, configurations/*.yaml
// and profiles/*.yaml, read once and then constant.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/configuration.h"
#include "common/plan/preset.h"
#include "common/plan/suite.h"

namespace dynbench::plan {

struct Catalog {
  std::map<std::string, Suite> suites;
  std::map<std::string, Configuration> configurations;
  std::map<std::string, LaunchProfile> profiles;
  std::map<std::string, Preset> presets;
};

// Reads all of `folder`. One unreadable file fails the load, with that file's error.
absl::StatusOr<Catalog> LoadCatalog(const std::string& folder);

// Where the installed suites are: $DYNBENCH_SUITES, else share/dynbench/suites beside the binary's
// bin folder, else the source tree that the binary was built from. NotFound lists what was tried.
absl::StatusOr<std::string> FindSuitesFolder();

}  // namespace dynbench::plan
