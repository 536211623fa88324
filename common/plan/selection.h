// Which models a request means, out of which suite and in which partition. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/catalog.h"
#include "common/plan/request.h"

namespace dynbench::plan {

// The suite of models given as `--only path:…`.
inline constexpr char kPathSuite[] = "path";

struct SelectedModel {
  std::string suite;
  ModelRules rules;
  ModelSource source;
  int partition = 0;          // its static slice; 0 under the other policies unless one was chosen
  bool bypass_skips = false;  // named by --only
};

struct Selection {
  std::vector<SelectedModel> models;  // sorted by name; path models in the order given
  std::vector<std::string> warnings;
};

// InvalidArgument for an unknown suite or model (with the nearest names, also of other suites), a
// filter that is no regular expression, a path suite whose files were not sent.
absl::StatusOr<Selection> SelectModels(const Request& request, const Catalog& catalog);

// The suite that the request names; nullptr for path models without a suite.
absl::StatusOr<const Suite*> SuiteOf(const Request& request, const Catalog& catalog);

}  // namespace dynbench::plan
