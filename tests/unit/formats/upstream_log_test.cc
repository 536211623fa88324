// Method: texts as upstream's scripts print them, from consoles, tracebacks and dumped stacks; out
// come phase and cause. Words outside of an exception must decide nothing.
#include "common/formats/upstream_log.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace dynbench::formats {
namespace {

using plan::Phase;

std::string Raised(const std::string& file, const std::string& function, const std::string& text) {
  return absl::StrCat(
      "Traceback (most recent call last):\n  File \"/x/common.py\", line 9, in main\n",
      "    main()\n  File \"", file, "\", line 1, in ", function, "\n    raise e\n", text, "\n");
}

TEST(UpstreamLog, TheStackTellsThePhase) {
  struct Row {
    const char *file, *function;
    Phase phase;
  };
  // The same words of out-of-memory, in each phase.
  const Row rows[] = {
      {"/x/common.py", "load_model", Phase::kLoad},
      {"/x/common.py", "warmup", Phase::kEager},
      {"/x/common.py", "cast_to_fp64", Phase::kReference},
      {"/e/torch/_inductor/compile_fx.py", "compile_fx", Phase::kCompile},
      {"/x/common.py", "speedup_experiment", Phase::kMeasure},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.function);
    // The console line has no end: the traceback may stand right behind it.
    for (const char* console : {"cpu  eval  m    ", "cpu  eval  m    \n", ""}) {
      const auto finding = ReadUpstreamLog(
          console + Raised(row.file, row.function, "torch.OutOfMemoryError: CUDA out of memory."),
          "m");
      EXPECT_EQ(finding.phase, row.phase);
      EXPECT_EQ(finding.cause, Cause::kOutOfMemory);
    }
  }
}

TEST(UpstreamLog, ADumpedStackCountsAfterTheLastException) {
  const std::string dump =
      "Current thread 0x00007f (most recent call first):\n"
      "  File \"/e/torch/_inductor/codecache.py\", line 2 in wait\n"
      "  File \"/x/common.py\", line 7 in warmup\n";
  EXPECT_EQ(ReadUpstreamLog("cpu  eval  m  \n" + dump, "m").phase, Phase::kCompile);
  EXPECT_TRUE(ReadUpstreamLog(dump, "m").from_stack);
  const auto after =
      ReadUpstreamLog(dump + Raised("/x/common.py", "load_model", "KeyError: 'k'"), "m");
  EXPECT_EQ(after.phase, Phase::kLoad);
  EXPECT_TRUE(after.script_skew);
}

TEST(UpstreamLog, AChainIsOneException) {
  const std::string log =
      Raised("/x/common.py", "load_model", "requests.exceptions.HTTPError: 429 Client Error") +
      "\nThe above exception was the direct cause of the following exception:\n\n" +
      Raised("/x/common.py", "validate_model", "RuntimeError: Failed to load");
  const auto finding = ReadUpstreamLog(log, "m");
  EXPECT_EQ(finding.cause, Cause::kDownload);
  EXPECT_EQ(finding.exception, "RuntimeError: Failed to load");
  // One that was handled long before is not part of it.
  const auto apart =
      ReadUpstreamLog(Raised("/x/common.py", "load_model", "OSError: no space left on device") +
                          "going on\n" + Raised("/x/common.py", "warmup", "ValueError: shapes"),
                      "m");
  EXPECT_EQ(apart.cause, Cause::kOther);
}

TEST(UpstreamLog, WordsThatAModelPrintsDecideNothing) {
  const auto finding = ReadUpstreamLog(
      "out of memory, GPU is lost, 429 Client Error, no space left on device\ncpu eval other "
      "pass\n",
      "m");
  EXPECT_EQ(finding.cause, Cause::kNone);
  EXPECT_EQ(finding.status, "");
  EXPECT_EQ(finding.phase, Phase::kLoad);
}

TEST(UpstreamLog, TheConsolesWord) {
  EXPECT_EQ(ReadUpstreamLog("cpu  train m     fail_accuracy\n", "m").status, "fail_accuracy");
  EXPECT_EQ(ReadUpstreamLog("model_fail_to_load\n", "m").status, "model_fail_to_load");
  EXPECT_EQ(ReadUpstreamLog("cpu  eval  m   1.234x\n", "m").phase, Phase::kCompile);
  EXPECT_EQ(ReadUpstreamLog(std::string("\0\xff\n  File \"", 11), "m").cause, Cause::kNone);
}

}  // namespace
}  // namespace dynbench::formats
