#include "tools/dynbenchctl/exit_code.h"

namespace dynbench::cli {

ExitCode Decide(const Findings& findings) {
  if (findings.usage) return ExitCode::kUsage;
  if (findings.refused) return ExitCode::kRefused;
  if (findings.infrastructure) return ExitCode::kInfrastructure;
  if (findings.wait_timed_out) return ExitCode::kWaitTimeout;
  if (findings.measured_failure) return ExitCode::kMeasuredFailure;
  if (findings.nothing_measured) return ExitCode::kNothingMeasured;
  return ExitCode::kDone;
}

Findings FindingsOf(const store::Coverage& coverage) {
  Findings findings;
  findings.infrastructure = coverage.lost > 0;
  findings.measured_failure = coverage.failed > 0;
  findings.nothing_measured = coverage.passed + coverage.failed == 0 || coverage.cancelled > 0 ||
                              coverage.waiting + coverage.running > 0;
  return findings;
}

ExitCode ForStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kAlreadyExists:
      return ExitCode::kUsage;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnauthenticated:
      return ExitCode::kRefused;
    default:
      return ExitCode::kInfrastructure;
  }
}

}  // namespace dynbench::cli
