// What an experiment needs of the place where it runs, beyond device and environment name, and
// whether a place has it. A need has one of two sources:
//
//   requirements  what the submitter asked for (`submit --require`): "pool=a100", "torch>=2.13",
//                 "driver!=550.54", "gpu". They hold or they do not: an unknown key does not.
//   build needs   what the experiment itself cannot do without: the suite's loader, a capability of
//                 the environment ("nativert"), a version of a package ("timm>=1.0"). A place that
//                 tells nothing about it is tried: the runner skips with the exact reason.
//
// Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/experiment.h"
#include "common/plan/request.h"

namespace dynbench::plan {

struct Requirement {
  std::string key;
  std::string comparison;  // "", "=", "!=", ">=", "<=", ">" or "<"; "": the key exists
  std::string value;

  bool operator==(const Requirement&) const = default;
};

// InvalidArgument shows the forms.
absl::StatusOr<Requirement> ParseRequirement(std::string_view text);

struct Needs {
  std::vector<std::string> requirements;  // as typed, checked by ParseRequirement
  std::vector<std::string> capabilities;
  std::vector<std::string> packages;  // "timm>=1.0"
  std::string loader;                 // empty: none
  // All that must be on one worker, each with what is above: both sides of a pair. Empty: the
  // experiment's own alone.
  std::vector<std::string> environments;

  bool empty() const {
    return requirements.empty() && capabilities.empty() && packages.empty() && loader.empty() &&
           environments.empty();
  }
  auto operator<=>(const Needs&) const = default;
};

// The build needs of an experiment, and `requirements` of its job.
Needs NeedsOf(const Experiment& experiment, const std::vector<std::string>& requirements);
// The same for an experiment of the job that `request` made: in a pair job with both environments.
Needs NeedsOf(const Experiment& experiment, const Request& request);

// What a worker says of one of its environments. An empty set or map: it says nothing.
struct EnvironmentOffer {
  std::set<std::string> capabilities;
  std::set<std::string> suites;                 // loaders
  std::map<std::string, std::string> versions;  // "torch", "python" and packages

  bool operator==(const EnvironmentOffer&) const = default;
};

using Labels = std::map<std::string, std::string>;

// What is missing there, for people: "pool is h200, asked for: a100", "no capability nativert".
// Empty: nothing.
std::string MissingRequirement(const Needs& needs, const Labels& labels,
                               const EnvironmentOffer& environment);
std::string MissingBuildNeed(const Needs& needs, const EnvironmentOffer& environment);

// -1, 0 or 1; versions by their numbers ("2.9" < "2.13" = "2.13.0+cpu"), other words as text.
int CompareVersions(std::string_view a, std::string_view b);

}  // namespace dynbench::plan
