// Method: whole pages as golden text: what a person sees of a job in which everything happens, of a
// job that varies a word, and of one that has not begun.
#include "common/formats/results_table.h"

#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ResultsTable, IsThisPage) {
  auto rows = EveryKindOfRow();
  rows[0].result->metrics.break_even_calls = 574.5;
  EXPECT_EQ(
      ResultsTable(JobOf(rows), rows, {}),
      R"(job 12  timm  inference  bfloat16  configuration default  cpu  environment default  cold

model            batch  performance  speedup       eager ms    compiled ms  compile s  pays after  breaks  memory  peak MB  accuracy
---------------  -----  -----------  -------  -------------  -------------  ---------  ----------  ------  ------  -------  -------------
mobilenetv2_100    128  measured       1.42x  30.12 ±  1.2%  21.21 ±   20%       17.2         575       2   0.97x     1538  pass
repvgg_a2          128  measured       0.87x  8.250 ±  1.2%  9.500 ±   20%       17.2       never       2   0.97x     1538  fail_accuracy
ghostnet_100       128  crash              -              -              -          -           -       -       -        -  waiting
nfnet_l0           128  lost               -              -              -          -           -       -       -        -  running
visformer_small    128  skipped            -              -              -          -           -       -       -        -  skipped
speedup: eager / compiled, medians.  ±: half the interquartile range.  pays after: calls until compiling has paid.  breaks: graph breaks.  memory: eager / compiled peak.

failed or lost
  repvgg_a2 accuracy: fail_accuracy in verify, blame compiler: RMSE (res-fp64): 0.00312, (ref-fp64): 0.00041
  ghostnet_100 performance: crash in compile, blame compiler: killed by signal 11 (SIGSEGV)
  nfnet_l0 performance: lost (worker_gone): worker alpha was not seen again
  more: dynbenchctl logs 12 repvgg_a2

skipped
  visformer_small (2): takes longer than the time limit on aarch64 CPUs

3 passed, 2 failed, 2 skipped, 1 lost, 1 running, 1 waiting of 10 planned
)");
}

TEST(ResultsTable, FitsATerminal) {
  const auto rows = EveryKindOfRow();
  const std::string page = ResultsTable(JobOf(rows), rows, {.colour = false, .width_max = 96});
  EXPECT_THAT(page, HasSubstr(R"(
model            performance  speedup       eager ms    compiled ms  compile s  accuracy
---------------  -----------  -------  -------------  -------------  ---------  -------------
mobilenetv2_100  measured       1.42x  30.12 ±  1.2%  21.21 ±   20%       17.2  pass
)"));
  EXPECT_THAT(page, HasSubstr("left out for width: peak MB, breaks, batch, memory, pays after "
                              "(all of it: --json)\n"));
}

TEST(ResultsTable, ShowsTheWordsThatVaryAndMeansForEach) {
  std::vector<store::ResultRow> rows;
  for (const char* configuration : {"default", "cudagraphs"}) {
    const double faster = rows.empty() ? 2.0 : 4.0;
    rows.push_back(Measured("repvgg_a2", 8, 8 / faster));
    rows.push_back(Measured("nfnet_l0", 8, 8 / faster));
    rows.push_back(Failed(Waiting("ghostnet_100", plan::Test::kPerformance), "timeout",
                          plan::Phase::kEager, plan::Blame::kEager, ""));
    for (size_t i = rows.size() - 3; i < rows.size(); ++i) {
      rows[i].experiment.configuration = configuration;
    }
  }
  const std::string page = ResultsTable(JobOf(rows), rows, {});
  EXPECT_THAT(page,
              HasSubstr("job 12  timm  inference  bfloat16  cpu  environment default  cold\n"));
  EXPECT_THAT(page, HasSubstr("model         configuration  batch  performance  speedup"));
  EXPECT_THAT(page, HasSubstr("repvgg_a2     cudagraphs       128  measured       4.00x"));
  EXPECT_THAT(page,
              HasSubstr("  ghostnet_100 performance cudagraphs: timeout in eager, blame eager\n"));
  EXPECT_THAT(page, HasSubstr("geometric mean of speedups default over 2 models: 2.00x "
                              "(1 left out: failed, or numerically wrong)\n"));
  EXPECT_THAT(page, HasSubstr("geometric mean of speedups cudagraphs over 2 models: 4.00x"));
  EXPECT_THAT(page, Not(HasSubstr("accuracy")));  // no such test, no such column
}

TEST(ResultsTable, LeavesWrongModelsOutOfTheMean) {
  const std::vector<store::ResultRow> rows = {
      Measured("a", 8, 4), Accuracy("a", plan::Outcome::kPassed, "pass"),
      Measured("b", 8, 4), Accuracy("b", plan::Outcome::kPassed, "pass_due_to_skip"),
      Measured("c", 8, 1), Accuracy("c", plan::Outcome::kFailed, "fail_accuracy")};
  const std::string page = ResultsTable(JobOf(rows), rows, {});
  EXPECT_THAT(page, HasSubstr("over 2 models: 2.00x (1 left out"));
  EXPECT_THAT(page, HasSubstr("5 passed, 1 failed of 6 planned (1 passed as pass_due_to_skip)\n"));
}

TEST(ResultsTable, AnEmptyJobIsOneLineAndASum) {
  EXPECT_EQ(ResultsTable(JobOf({}), {}, {}), "job 12\n\n0 passed, 0 failed of 0 planned\n");
}

TEST(ResultsTable, FailuresWithOneErrorAreOneLine) {
  std::vector<store::ResultRow> rows;
  for (const char* model : {"a", "b", "c"}) {
    rows.push_back(Failed(Waiting(model, plan::Test::kPerformance), "fail_to_run",
                          plan::Phase::kLoad, plan::Blame::kModel, "KeyError: 'x'"));
  }
  const std::string page = ResultsTable(JobOf(rows), rows, {});
  EXPECT_THAT(page, HasSubstr("  3 models, same error: fail_to_run in load, blame model: KeyError: "
                              "'x'\n    a, b, c\n    hint: "));
  EXPECT_THAT(page, Not(HasSubstr("a performance: fail_to_run")));
}

TEST(ResultsTable, ToleranceAndBatchSizesHaveTheirColumns) {
  std::vector<store::ResultRow> rows = {
      Done(Waiting("a", plan::Test::kTolerance), plan::Outcome::kPassed, "pass"),
      Done(Waiting("a", plan::Test::kBatchSize), plan::Outcome::kPassed, "pass")};
  rows[0].result->metrics.tolerance_max = 0.25;
  const std::string page = ResultsTable(JobOf(rows), rows, {});
  EXPECT_THAT(page, HasSubstr("tolerance   max  mean  std  batch size  largest"));
  EXPECT_THAT(page, HasSubstr("pass       0.25     -    -  pass            128"));
}

TEST(ResultsTable, PaintsFailures) {
  const auto rows = EveryKindOfRow();
  const std::string page = ResultsTable(JobOf(rows), rows, {.colour = true, .width_max = 0});
  EXPECT_THAT(page, HasSubstr("\033[31mcrash\033[0m"));
  EXPECT_THAT(page, HasSubstr("\033[33m0.87x\033[0m"));  // slower than eager
}

}  // namespace
}  // namespace dynbench::formats
