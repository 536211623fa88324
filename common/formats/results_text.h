// dynbench.results/1 as compact text, a row at a time: what ResultsJson says, without the tree of
// JSON values, which for ten thousand rows takes ten times as long.
//
// Thread-compatible.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/plan/experiment_reader.h"
#include "common/store/queries.h"

namespace dynbench::formats {

// The text before the first row, and behind the last.
std::string ResultsHead(const store::JobRow& job);
std::string ResultsTail();

// Rows that follow each other; parts of a job may be made apart.
class ResultsText {
 public:
  // `first`: the job's rows begin here.
  explicit ResultsText(bool first) : first_(first) {}

  // The row's `plan` is read, `experiment` is not. An error names what cannot be read in it.
  absl::Status Add(const store::ResultRow& row);

  // What was made; this is used up.
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  bool first_;
  plan::ExperimentReader reader_;
};

}  // namespace dynbench::formats
