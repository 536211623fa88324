// Method: the lines as they are printed, one of each kind.
#include "common/formats/result_line.h"

#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

TEST(CoverageLine, AddsUp) {
  store::Coverage c{.planned = 80,
                    .passed = 70,
                    .failed = 0,
                    .skipped = 0,
                    .lost = 0,
                    .cancelled = 0,
                    .waiting = 9,
                    .running = 1};
  EXPECT_EQ(CoverageLine(c), "70 passed, 0 failed, 1 running, 9 waiting of 80 planned");
}

TEST(ResultLine, SaysWhatHasHappened) {
  EXPECT_EQ(ResultLine(Measured("repvgg_a2", 30.12, 21.21), {}),
            "repvgg_a2 performance: 1.42x (eager 30.12 ms ± 1.2%, compiled 21.21 ms ± 20%), "
            "compiled in 17 s");
  EXPECT_EQ(ResultLine(Accuracy("repvgg_a2", plan::Outcome::kPassed, "pass"), {}),
            "repvgg_a2 accuracy: pass");
  EXPECT_EQ(ResultLine(Failed(Waiting("repvgg_a2", plan::Test::kPerformance), "crash",
                              plan::Phase::kLoad, plan::Blame::kModel, "exit code 0 too early"),
                       {}),
            "repvgg_a2 performance: crash in load, blame model: exit code 0 too early");
  store::ResultRow skipped =
      Done(Waiting("repvgg_a2", plan::Test::kAccuracy), plan::Outcome::kSkipped, "");
  skipped.experiment.reason = "known to hang";
  EXPECT_EQ(ResultLine(skipped, {}), "repvgg_a2 accuracy: skipped, known to hang");
  EXPECT_EQ(ResultLine(Waiting("repvgg_a2", plan::Test::kAccuracy), {}), "");
}

}  // namespace
}  // namespace dynbench::formats
