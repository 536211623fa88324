// Failures with the same error as one: a dependency that changed takes a whole family of models
// down, which is one thing to look at, not forty. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/store/queries.h"

namespace dynbench::formats {

// The error less what differs from run to run and from model to model: addresses, numbers, folders
// of paths, temporary names and `model`. Equal signatures are the same error.
std::string ErrorSignature(std::string_view error, std::string_view model);

struct ErrorCluster {
  std::string status, phase, blame;
  std::string error;                          // of the first row, as it was printed
  std::vector<const store::ResultRow*> rows;  // in the order of the job; never empty
  std::vector<std::string> models;            // distinct, in that order
  std::string hint;                           // what it looks like; may be empty
};

// The failed and lost rows, those with the same status, phase and signature together; the largest
// number of models first, then in the order of the job. `rows` must outlive the answer.
std::vector<ErrorCluster> ClusterErrors(const std::vector<store::ResultRow>& rows);

// "14 models, same error: fail_to_run in compile, blame compiler: KeyError: 'x'", the models and
// the hint on lines of their own, indented by two; only clusters of at least `models_min` models.
std::string ClusterLines(const std::vector<ErrorCluster>& clusters, size_t models_min);

}  // namespace dynbench::formats
