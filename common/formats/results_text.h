// dynbench.results/1 as compact text, a row at a time: what ResultsJson says, without the tree of
// JSON values, which for ten thousand rows takes ten times as long.
//
// Thread-compatible.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "common/plan/experiment_reader.h"
#include "common/store/queries.h"

namespace dynbench::formats {

class ResultsText {
 public:
  explicit ResultsText(const store::JobRow& job);

  // The row's `plan` is read, `experiment` is not. An error names what cannot be read in it.
  absl::Status Add(const store::ResultRow& row);

  // The whole text; this is used up.
  std::string Take();

 private:
  std::string text_;
  bool first_ = true;
  plan::ExperimentReader reader_;
};

}  // namespace dynbench::formats
