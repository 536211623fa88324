// The installed suites, configurations, profiles and presets: a folder with *.yaml,
// configurations/*.yaml, profiles/*.yaml and presets/*.yaml, and the model files that its suites
// name, read once and then constant.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/configuration.h"
#include "common/plan/preset.h"
#include "common/plan/suite.h"

namespace dynbench::plan {

// A model file of an installed suite. It is planned by its content, as one that travels with a job.
struct InstalledFile {
  std::string name;    // its own, without folders
  std::string sha256;  // of its bytes
  std::string bytes;
};

struct Catalog {
  std::map<std::string, Suite> suites;
  std::map<std::string, Configuration> configurations;
  std::map<std::string, LaunchProfile> profiles;
  std::map<std::string, Preset> presets;
  // Suites with the loader "path": suite, then the file as the suite spells it.
  std::map<std::string, std::map<std::string, InstalledFile>> model_files;
};

// Reads all of `folder`. One unreadable file fails the load, with that file's error.
absl::StatusOr<Catalog> LoadCatalog(const std::string& folder);

// Where the installed suites are: $DYNBENCH_SUITES, else share/dynbench/suites beside the binary's
// bin folder, else the source tree that the binary was built from. NotFound lists what was tried.
absl::StatusOr<std::string> FindSuitesFolder();

}  // namespace dynbench::plan
