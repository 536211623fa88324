// Method: a table of endings and what each must amount to.
#include "worker/engine/outcome.h"

#include <signal.h>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

using plan::Blame;
using plan::Outcome;
using plan::Phase;

constexpr char kTraceback[] =
    "loading\nTraceback (most recent call last):\n  File \"m.py\", line 3, in <module>\n"
    "    Net()\nTypeError: 'NoneType' object is not callable\nbye\n";

TEST(Outcome, TableOfEndings) {
  struct Row {
    const char* name;
    Ending ending;
    const char* log;
    Outcome outcome;
    const char* status;
    Blame blame;
    const char* error_has;
  };
  const auto exits = [](Phase phase, int code, int signal) {
    Ending ending;
    ending.phase = phase;
    ending.exit = {signal != 0 ? -1 : code, signal};
    return ending;
  };
  Ending late = exits(Phase::kCompile, 0, SIGKILL);
  late.timed_out = true;
  late.limit_ms = 120'000;
  Ending phase_late = late;
  phase_late.phase = Phase::kLoad;
  phase_late.limit_ms = 1'500;
  phase_late.whole_timeout = false;
  Ending cancelled = exits(Phase::kEager, 0, SIGTERM);
  cancelled.cancelled = true;
  cancelled.cancel_reason = "wrong branch";
  const Row rows[] = {
      {"os._exit(0)", exits(Phase::kLoad, 0, 0), "", Outcome::kFailed, "crash", Blame::kModel,
       "exited with code 0 before a result, in phase load"},
      {"sys.exit(2)", exits(Phase::kLoad, 2, 0), "", Outcome::kFailed, "crash", Blame::kModel,
       "code 2"},
      {"exception", exits(Phase::kEager, 1, 0), kTraceback, Outcome::kFailed, "crash",
       Blame::kEager, "TypeError: 'NoneType' object is not callable"},
      {"segfault", exits(Phase::kCompile, 0, SIGSEGV), "", Outcome::kFailed, "crash",
       Blame::kCompiler, "SIGSEGV"},
      {"segfault in reference", exits(Phase::kReference, 0, SIGSEGV), "", Outcome::kFailed, "crash",
       Blame::kEager, "in phase reference"},
      {"GPU hang", exits(Phase::kMeasure, 0, SIGABRT),
       "warming up\n[rank] HW Exception by GPU node-4 (Agent handle: 0x1ebc04e0) reason :GPU Hang\n"
       "Fatal Python error: Aborted\n",
       Outcome::kLost, "gpu_hang", Blame::kInfrastructure,
       "HW Exception by GPU node-4 (Agent handle: 0x1ebc04e0) reason :GPU Hang"},
      {"memory fault of a kernel", exits(Phase::kMeasure, 0, SIGABRT),
       "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0. Reason: Unknown.\n",
       Outcome::kFailed, "crash", Blame::kCompiler, "SIGABRT"},
      {"words of a hang, another end", exits(Phase::kMeasure, 1, 0),
       "HW Exception by GPU node-4 reason :GPU Hang\n", Outcome::kFailed, "crash", Blame::kCompiler,
       "code 1"},
      {"kill", exits(Phase::kMeasure, 0, SIGKILL), "", Outcome::kFailed, "crash", Blame::kCompiler,
       "out-of-memory"},
      {"before any phase", exits(Phase::kPrepare, 1, 0), "", Outcome::kFailed, "crash",
       Blame::kInfrastructure, "code 1"},
      {"timeout", late, "", Outcome::kFailed, "timeout", Blame::kCompiler,
       "timed out after 120 s in phase compile"},
      {"phase timeout", phase_late, "", Outcome::kFailed, "timeout", Blame::kModel,
       "1.5 s in phase load (the phase's own limit)"},
      {"cancelled", cancelled, kTraceback, Outcome::kCancelled, "cancelled", Blame::kNone,
       "wrong branch"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const plan::Result result = ResultWithoutReport(row.ending, row.log);
    EXPECT_EQ(result.outcome, row.outcome);
    EXPECT_EQ(result.status, row.status);
    EXPECT_EQ(result.blame, row.blame);
    EXPECT_EQ(result.phase, row.ending.phase);
    EXPECT_TRUE(absl::StrContains(result.error, row.error_has)) << result.error;
  }
}

TEST(Outcome, TheExceptionOfTheLastTracebackIsTheUsefulLine) {
  const std::string chained = std::string(kTraceback) +
                              "\nDuring handling of the above exception, another occurred:\n\n"
                              "Traceback (most recent call last):\n  File \"n.py\", line 1\n"
                              "timm.errors.Unknown: no such model\n  hint\n";
  EXPECT_EQ(LastExceptionLine(chained), "timm.errors.Unknown: no such model");
  EXPECT_EQ(LastExceptionLine("nothing went wrong\n"), "");
  EXPECT_EQ(LastExceptionLine("Traceback (most recent call last):\n  cut off"), "");
}

TEST(Outcome, ADeathAfterTheResultIsANoteNotAFailure) {
  plan::Result result;
  result.outcome = Outcome::kPassed;
  Ending ending;
  ending.exit = {-1, SIGSEGV};
  AddEnding(ending, &result);
  EXPECT_EQ(result.outcome, Outcome::kPassed);
  EXPECT_EQ(result.exit_signal, SIGSEGV);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0], "killed by SIGSEGV after its result");
}

}  // namespace
}  // namespace dynbench::worker
