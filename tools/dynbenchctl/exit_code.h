// What dynbenchctl's exit code says, decided in one place. docs/cli.md documents the table.
//
// Pure.
#pragma once

#include "absl/status/status.h"
#include "common/store/queries.h"

namespace dynbench::cli {

enum class ExitCode : int {
  kDone = 0,             // done, and what was asked for holds
  kMeasuredFailure = 1,  // an experiment failed, or a gate found a regression
  kUsage = 2,            // nothing was dispatched
  kInfrastructure = 3,   // experiments lost, or the coordinator not reachable
  kNothingMeasured = 4,  // nothing measured, or not enough data to judge
  kRefused = 5,          // not permitted, or not comparable
  kWaitTimeout = 6,      // the time limit of a wait passed
};

// Everything that was found out on the way; any number may be true at once.
struct Findings {
  bool usage = false;
  bool refused = false;
  bool infrastructure = false;
  bool wait_timed_out = false;
  bool measured_failure = false;
  bool nothing_measured = false;

  bool operator==(const Findings&) const = default;
};

// The first that applies, in the order 2, 5, 3, 6, 1, 4, 0: what makes the others doubtful goes
// first.
ExitCode Decide(const Findings& findings);

// What a job's counts say once nobody waits for it any more. Experiments that were cancelled or
// still have no result were asked for and not measured, as a job without any measurement was.
Findings FindingsOf(const store::Coverage& coverage);

// The exit code of an operation that ended with `status`: usage for InvalidArgument, NotFound,
// OutOfRange and AlreadyExists; refused for PermissionDenied, FailedPrecondition and
// Unauthenticated; infrastructure for everything else that is not ok.
ExitCode ForStatus(const absl::Status& status);

}  // namespace dynbench::cli
