// Every kind of failure in every phase against the table of the architecture: whom a row blames is
// what its readers act on.
#include "worker/runner/failures.h"

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

std::string Told(const Judgement& j) { return j.outcome + " " + j.status + " " + j.blame; }

std::string Told(const std::string& kind, const std::string& phase,
                 SideInForce side = SideInForce::kNone) {
  return Told(Judge({kind, "", ""}, phase, side));
}

TEST(FailuresTest, PhaseDecidesTheBlame) {
  EXPECT_EQ(Told("other", "load"), "failed eager_fail_to_run model");
  EXPECT_EQ(Told("not_implemented", "load"), "failed model_fail_to_load model");
  EXPECT_EQ(Told("other", "eager"), "failed eager_1st_run_fail eager");
  EXPECT_EQ(Told("oom", "eager"), "failed eager_1st_run_OOM eager");
  EXPECT_EQ(Told("other", "reference"), "failed eager_1st_run_fail eager");
  EXPECT_EQ(Told("other", "compile"), "failed fail_to_run compiler");
  EXPECT_EQ(Told("oom", "compile"), "failed OOM compiler");
  EXPECT_EQ(Told("other", "verify"), "failed fail_to_run compiler");
}

TEST(FailuresTest, InTheWindowTheSideDecides) {
  EXPECT_EQ(Told("other", "measure", SideInForce::kEager), "failed eager_1st_run_fail eager");
  EXPECT_EQ(Told("other", "measure", SideInForce::kCompiled), "failed fail_to_run compiler");
  EXPECT_EQ(Told("guard_miss", "measure", SideInForce::kCompiled), "failed guard_miss compiler");
  EXPECT_EQ(Told("window", "measure"), "failed window_invalid model");
}

TEST(FailuresTest, WhatNobodyInTheModelCanHelpIsLost) {
  for (const char* phase : {"load", "eager", "compile", "measure"}) {
    EXPECT_EQ(Told("no_space", phase), "lost no_space infrastructure");
    EXPECT_EQ(Told("device_lost", phase), "lost device_lost infrastructure");
    EXPECT_EQ(Told("gpu_hang", phase), "lost gpu_hang infrastructure");
    EXPECT_EQ(Told("download", phase), "lost download_failed infrastructure");
  }
  EXPECT_EQ(Told("other", "prepare"), "lost not_prepared infrastructure");
}

TEST(FailuresTest, RefusedOptionsBlameNobody) {
  EXPECT_EQ(Told("option", "prepare"), "failed option_refused none");
  EXPECT_EQ(Told("option", "compile"), "failed option_refused none");
}

TEST(FailuresTest, WhatTheEnvironmentCannotDoIsSkipped) {
  EXPECT_EQ(Told("capability", "compile"), "skipped skipped none");
  EXPECT_EQ(Told("capability", "load"), "skipped skipped none");
  EXPECT_EQ(Told(JudgeAccuracy("fail_to_run", {"capability", "", ""})), "skipped skipped none");
}

TEST(FailuresTest, AccuracyWords) {
  const Failure other{"other", "", ""};
  EXPECT_EQ(Told(JudgeAccuracy("pass", other)), "passed pass none");
  EXPECT_EQ(Told(JudgeAccuracy("pass_due_to_skip", other)), "passed pass_due_to_skip none");
  EXPECT_EQ(Told(JudgeAccuracy("fail_accuracy", other)), "failed fail_accuracy compiler");
  EXPECT_EQ(Told(JudgeAccuracy("eager_two_runs_differ", other)),
            "failed eager_two_runs_differ eager");
  EXPECT_EQ(Told(JudgeAccuracy("eager_2nd_run_OOM", {"oom", "", ""})),
            "failed eager_2nd_run_OOM eager");
  EXPECT_EQ(Told(JudgeAccuracy("fail_to_run", {"no_space", "", ""})),
            "lost no_space infrastructure");
}

}  // namespace
}  // namespace dynbench::runner
