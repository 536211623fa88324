// Method: an ending, what was read of the files, and a log, in; exactly one result out. The table
// has every way in which a script ends that the fake suite cannot show on a CPU as well.
#include "worker/engine/script_result.h"

#include <signal.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

using plan::Blame;
using plan::Outcome;
using plan::Phase;
using testing::Contains;
using testing::HasSubstr;

constexpr char kConsole[] = "cuda eval  m   ";

std::string Raised(const std::string& function, const std::string& text) {
  return "Traceback (most recent call last):\n  File \"/s/common.py\", line 1, in " + function +
         "\n    x()\n" + text + "\n";
}

formats::UpstreamReading Row(const std::string& status) {
  formats::UpstreamReading reading;
  reading.row = formats::UpstreamRow();
  reading.row->status = status;
  if (status == "measured") reading.row->metrics.speedup = 2;
  return reading;
}

struct Case {
  const char* name;
  Ending ending;
  formats::UpstreamReading reading;
  std::string log;
  Outcome outcome;
  const char* status;
  Phase phase;
  Blame blame;
};

Ending Exit(int code, int signal = 0) {
  Ending ending;
  ending.exit = {signal != 0 ? -1 : code, signal};
  return ending;
}

Ending Late() {
  Ending ending = Exit(0, SIGKILL);
  ending.timed_out = true;
  ending.limit_ms = 2'000;
  return ending;
}

TEST(ScriptResult, EveryEndIsOneResult) {
  const std::string oom = "torch.OutOfMemoryError: CUDA out of memory.";
  const Case cases[] = {
      {"measured", Exit(0), Row("measured"), "", Outcome::kPassed, "measured", Phase::kReport,
       Blame::kNone},
      {"exit 0 without a row",
       Exit(0),
       {},
       kConsole,
       Outcome::kFailed,
       "crash",
       Phase::kCompile,
       Blame::kCompiler},
      {"exit 1 while loading",
       Exit(1),
       {},
       "",
       Outcome::kFailed,
       "crash",
       Phase::kLoad,
       Blame::kModel},
      {"segfault",
       Exit(0, SIGSEGV),
       {},
       kConsole,
       Outcome::kFailed,
       "crash",
       Phase::kCompile,
       Blame::kCompiler},
      {"timeout in the warm-up",
       Late(),
       {},
       "Current thread 0x1 (most recent call first):\n  File \"/s/common.py\", line 3 in warmup\n",
       Outcome::kFailed,
       "timeout",
       Phase::kEager,
       Blame::kEager},
      {"row, then killed", Late(), Row("measured"), "", Outcome::kPassed, "measured",
       Phase::kReport, Blame::kNone},
      {"zeros, OOM eagerly", Exit(255), Row(""), Raised("warmup", oom), Outcome::kFailed,
       "eager_1st_run_OOM", Phase::kEager, Blame::kEager},
      {"OOM in the reference",
       Exit(1),
       {},
       Raised("cast_to_fp64", oom),
       Outcome::kFailed,
       "eager_1st_run_OOM",
       Phase::kReference,
       Blame::kEager},
      {"OOM while timing",
       Exit(1),
       {},
       Raised("speedup_experiment", oom),
       Outcome::kFailed,
       "OOM",
       Phase::kMeasure,
       Blame::kCompiler},
      {"zeros, the console's word", Exit(0), Row(""), "eager_fail_to_run\n", Outcome::kFailed,
       "eager_fail_to_run", Phase::kLoad, Blame::kModel},
      {"accuracy", Exit(0), Row("fail_accuracy"), "", Outcome::kFailed, "fail_accuracy",
       Phase::kVerify, Blame::kCompiler},
      {"skipped accuracy", Exit(0), Row("pass_due_to_skip"), "", Outcome::kPassed,
       "pass_due_to_skip", Phase::kReport, Blame::kNone},
      {"a word of tomorrow", Exit(0), Row("fail_in_a_new_way"), kConsole, Outcome::kFailed,
       "fail_in_a_new_way", Phase::kCompile, Blame::kCompiler},
      {"batch invariance", Exit(0), Row("fail_batch_invariance_at_4"), "", Outcome::kFailed,
       "fail_batch_invariance_at_4", Phase::kVerify, Blame::kCompiler},
      {"device lost", Exit(1), Row("fail_to_run"),
       Raised("warmup", "RuntimeError: CUDA error: the GPU is lost"), Outcome::kLost, "device_lost",
       Phase::kCompile, Blame::kInfrastructure},
      {"the driver ended a kernel that hung", Exit(1), Row("fail_to_run"),
       Raised("warmup", "RuntimeError: CUDA error: the launch timed out and was terminated"),
       Outcome::kLost, "gpu_hang", Phase::kCompile, Blame::kInfrastructure},
      {"the runtime aborted at a hang",
       Exit(0, SIGABRT),
       {},
       std::string(kConsole) + "HW Exception by GPU node-1 (Agent handle: 0x1) reason :GPU Hang\n",
       Outcome::kLost,
       "gpu_hang",
       Phase::kCompile,
       Blame::kInfrastructure},
      {"a kernel's own fault is no hang", Exit(1), Row("fail_to_run"),
       Raised("warmup", "RuntimeError: CUDA error: unspecified launch failure"), Outcome::kFailed,
       "fail_to_run", Phase::kCompile, Blame::kCompiler},
      {"refused download", Exit(0), Row("eager_fail_to_run"),
       Raised("load_model", "HTTPError: 429 Client Error"), Outcome::kLost, "download_failed",
       Phase::kLoad, Blame::kInfrastructure},
      {"a survived exception, then a wrong answer", Exit(0), Row("fail_accuracy"),
       Raised("load_model", "HTTPError: 429 Client Error"), Outcome::kFailed, "fail_accuracy",
       Phase::kVerify, Blame::kCompiler},
      {"a survived exception, then killed",
       Exit(0, SIGKILL),
       {},
       kConsole + Raised("cast_to_fp64", "OSError: No space left on device"),
       Outcome::kFailed,
       "crash",
       Phase::kCompile,
       Blame::kCompiler},
      {"full disk",
       Exit(1),
       {},
       Raised("warmup", "OSError: [Errno 28] No space left on device"),
       Outcome::kLost,
       "no_space",
       Phase::kEager,
       Blame::kInfrastructure},
  };
  plan::Experiment experiment;
  experiment.model = "m";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto result = ResultOfScript(c.ending, c.reading, c.log, experiment);
    EXPECT_EQ(result.outcome, c.outcome);
    EXPECT_EQ(result.status, c.status);
    EXPECT_EQ(result.phase, c.phase);
    EXPECT_EQ(result.blame, c.blame);
    EXPECT_EQ(result.error.empty(), c.outcome == Outcome::kPassed) << result.error;
    EXPECT_EQ(result.exit_signal, c.ending.exit.signal);
  }
}

TEST(ScriptResult, CancellingWinsOverARow) {
  Ending ending = Exit(0, SIGTERM);
  ending.cancelled = true;
  ending.cancel_reason = "enough";
  const auto result = ResultOfScript(ending, Row("measured"), "", {});
  EXPECT_EQ(result.outcome, Outcome::kCancelled);
  EXPECT_EQ(result.metrics, plan::Metrics());
}

TEST(ScriptResult, NotesSayWhatIsNotCertain) {
  EXPECT_THAT(ResultOfScript(Exit(0, SIGSEGV), Row("measured"), "", {}).notes,
              Contains("killed by SIGSEGV after its result"));
  plan::Experiment m;
  m.model = "m";
  EXPECT_THAT(ResultOfScript(Exit(0, SIGKILL), {}, kConsole, m).notes,
              Contains(HasSubstr("do not say what they do after loading")));
  const auto skewed =
      ResultOfScript(Exit(1), {}, Raised("load_model", "KeyError: 'emulate_precision_casts'"), m);
  EXPECT_THAT(skewed.error, HasSubstr("KeyError"));
  EXPECT_THAT(skewed.notes, Contains(HasSubstr("different versions")));
  EXPECT_THAT(ResultOfScript(Late(), {}, kConsole, m).error,
              HasSubstr("2 s in phase compile (the "
                        "experiment's limit, --timeout)"));
}

}  // namespace
}  // namespace dynbench::worker
