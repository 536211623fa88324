// Method: every combination of findings against the order of precedence that docs/cli.md promises,
// written down here independently; then tables of job counts and of status codes.
#include "tools/dynbenchctl/exit_code.h"

#include <gtest/gtest.h>

namespace dynbench::cli {
namespace {

TEST(ExitCode, TheFirstThatAppliesInTheDocumentedOrder) {
  for (int bits = 0; bits < 64; ++bits) {
    const Findings findings{(bits & 1) != 0, (bits & 2) != 0,  (bits & 4) != 0,
                            (bits & 8) != 0, (bits & 16) != 0, (bits & 32) != 0};
    int expected = 0;
    const std::pair<bool, int> order[] = {{findings.usage, 2},
                                          {findings.refused, 5},
                                          {findings.infrastructure, 3},
                                          {findings.wait_timed_out, 6},
                                          {findings.measured_failure, 1},
                                          {findings.nothing_measured, 4}};
    for (const auto& [holds, code] : order) {
      if (holds) {
        expected = code;
        break;
      }
    }
    EXPECT_EQ(static_cast<int>(Decide(findings)), expected) << "findings " << bits;
  }
}

struct JobCase {
  const char* what;
  store::Coverage coverage;  // planned, passed, failed, skipped, lost, cancelled, waiting, running
  int code;
};

TEST(ExitCode, OfAFinishedJob) {
  const JobCase cases[] = {
      {"all passed", {3, 3, 0, 0, 0, 0, 0, 0}, 0},
      {"passed and skipped", {3, 2, 0, 1, 0, 0, 0, 0}, 0},
      {"one failed", {3, 2, 1, 0, 0, 0, 0, 0}, 1},
      {"all failed", {3, 0, 3, 0, 0, 0, 0, 0}, 1},
      {"one lost", {3, 2, 0, 0, 1, 0, 0, 0}, 3},
      {"lost before failed", {3, 1, 1, 0, 1, 0, 0, 0}, 3},
      {"all skipped", {3, 0, 0, 3, 0, 0, 0, 0}, 4},
      {"empty", {0, 0, 0, 0, 0, 0, 0, 0}, 4},
      {"all cancelled", {3, 0, 0, 0, 0, 3, 0, 0}, 4},
      {"some cancelled, the others passed", {3, 2, 0, 0, 0, 1, 0, 0}, 4},
      {"some cancelled, one failed", {3, 1, 1, 0, 0, 1, 0, 0}, 1},
  };
  for (const JobCase& c : cases) {
    EXPECT_EQ(static_cast<int>(Decide(FindingsOf(c.coverage))), c.code) << c.what;
  }
}

TEST(ExitCode, AWaitThatGaveUpSaysSoUnlessExperimentsWereLost) {
  Findings findings = FindingsOf({4, 1, 1, 0, 0, 0, 1, 1});
  findings.wait_timed_out = true;
  EXPECT_EQ(Decide(findings), ExitCode::kWaitTimeout);
  findings = FindingsOf({4, 1, 0, 0, 1, 0, 1, 1});
  findings.wait_timed_out = true;
  EXPECT_EQ(Decide(findings), ExitCode::kInfrastructure);
}

TEST(ExitCode, OfAStatus) {
  EXPECT_EQ(ForStatus(absl::OkStatus()), ExitCode::kDone);
  EXPECT_EQ(ForStatus(absl::InvalidArgumentError("")), ExitCode::kUsage);
  EXPECT_EQ(ForStatus(absl::NotFoundError("")), ExitCode::kUsage);
  EXPECT_EQ(ForStatus(absl::PermissionDeniedError("")), ExitCode::kRefused);
  EXPECT_EQ(ForStatus(absl::FailedPreconditionError("")), ExitCode::kRefused);
  EXPECT_EQ(ForStatus(absl::UnavailableError("")), ExitCode::kInfrastructure);
  EXPECT_EQ(ForStatus(absl::DeadlineExceededError("")), ExitCode::kInfrastructure);
  EXPECT_EQ(ForStatus(absl::InternalError("")), ExitCode::kInfrastructure);
}

}  // namespace
}  // namespace dynbench::cli
