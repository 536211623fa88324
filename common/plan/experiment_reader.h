// Reads the plans of a job's rows, one after another. Neighbours differ in few fields (mostly the
// model), so only the members whose text differs from that of the row before are parsed: about a
// tenth of the time of ExperimentFromJson, with the same outcome.
//
// Thread-compatible.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/plan/experiment.h"

namespace dynbench::plan {

class ExperimentReader {
 public:
  ExperimentReader();
  ~ExperimentReader();
  ExperimentReader(const ExperimentReader&) = delete;
  ExperimentReader& operator=(const ExperimentReader&) = delete;

  // As ExperimentFromJson; OK: `experiment()` is what it returns.
  absl::Status Read(std::string_view text);
  // The experiment that was read last with the members of the JSON object `changes` (PlanChanges)
  // in place of its own. FailedPrecondition: none was read; InvalidArgument: as of Read.
  absl::Status ReadChanges(std::string_view changes);
  const Experiment& experiment() const;

  // ToPublicJson of the experiment that was read last (which must have been OK), as compact text.
  // Likewise made out of what differs.
  std::string PublicJsonText();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace dynbench::plan
