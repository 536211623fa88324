// Method: short shell programs; what they write must reach the log, and one that fails, hangs or is
// cancelled must be said to, with what it wrote last.
#include "worker/environments/steps.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

Steps Make(std::string* log, int64_t limit_ms, bool cancelled = false) {
  Steps::Options options;
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  options.working_dir = "/";
  options.limit_ms = limit_ms;
  options.sink = [log](std::string_view bytes) { log->append(bytes); };
  options.cancelled = [cancelled] { return cancelled; };
  return Steps(std::move(options));
}

TEST(Steps, TheLogHasEverythingAndAFailureItsEnd) {
  std::string log;
  Steps steps = Make(&log, 60'000);
  EXPECT_TRUE(steps.Run("talking", {"/bin/sh", "-c", "echo one; echo two >&2"}).ok());
  EXPECT_TRUE(absl::StrContains(log, "== talking")) << log;
  EXPECT_TRUE(absl::StrContains(log, "one\ntwo\n")) << log;
  const absl::Status failed = steps.Run("failing", {"/bin/sh", "-c", "echo why; exit 7"});
  EXPECT_EQ(failed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(failed.message(), "exit code 7")) << failed;
  EXPECT_TRUE(absl::StrContains(failed.message(), "why")) << failed;
}

TEST(Steps, OneThatHangsOrIsCancelledIsEndedWithItsChildren) {
  std::string log;
  Steps steps = Make(&log, 300);
  const absl::Status late =
      steps.Run("hanging", {"/bin/sh", "-c", "echo begun; tail -f /dev/null & wait"});
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
  EXPECT_TRUE(absl::StrContains(late.message(), "begun")) << late;
  Steps cancelled = Make(&log, 60'000, true);
  EXPECT_EQ(cancelled.Run("hanging", {"/usr/bin/tail", "-f", "/dev/null"}).code(),
            absl::StatusCode::kCancelled);
}

TEST(Steps, OneThatClosedItsOutputIsStillEndedInTime) {
  std::string log;
  Steps steps = Make(&log, 300);
  const absl::Status late = steps.Run(
      "hanging",
      {"/bin/sh", "-c", "echo begun; exec >/dev/null 2>&1; exec timeout 20 tail -f /dev/null"});
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
  EXPECT_TRUE(absl::StrContains(late.message(), "begun")) << late;
  // And its exit code is still its own.
  EXPECT_TRUE(absl::StrContains(
      steps.Run("failing", {"/bin/sh", "-c", "exec >/dev/null 2>&1; exit 7"}).message(),
      "exit code 7"));
}

}  // namespace
}  // namespace dynbench::worker
