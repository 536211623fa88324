// Method: small unified diffs, good ones and one for each rule that a diff can break; the message
// must name the file.
#include "worker/environments/patch_check.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

std::string Diff(const std::string& before, const std::string& after) {
  return "--- " + before + "\n+++ " + after + "\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 1\n";
}

void ExpectRefused(const std::string& patch, const std::string& file, const std::string& why) {
  const auto plan = PlanPatch(patch);
  ASSERT_FALSE(plan.ok()) << patch;
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(plan.status().message(), file)) << plan.status();
  EXPECT_TRUE(absl::StrContains(plan.status().message(), why)) << plan.status();
}

TEST(PlanPatch, NamesWithAndWithoutTheFoldersOfGit) {
  auto plan = PlanPatch("diff --git a/torch/x.py b/torch/x.py\n" +
                        Diff("a/torch/x.py\t2026", "b/torch/x.py") + Diff("/dev/null", "b/new.py"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->strip, 1);
  ASSERT_EQ(plan->files.size(), 2u);
  EXPECT_EQ(plan->files[0].path, "torch/x.py");
  EXPECT_FALSE(plan->files[0].is_new);
  EXPECT_EQ(plan->files[1].path, "new.py");
  EXPECT_TRUE(plan->files[1].is_new);
  plan = PlanPatch(Diff("torch/x.py", "torch/x.py"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->strip, 0);
  EXPECT_EQ(plan->files[0].path, "torch/x.py");
}

TEST(PlanPatch, ARemovedLineThatLooksLikeAHeaderIsNone) {
  const auto plan =
      PlanPatch("--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,1 @@\n--- a/evil.so\n-++ b/evil.so\n keep\n");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->files.size(), 1u);
}

TEST(PlanPatch, WhatCannotBeDerivedIsRefusedByName) {
  ExpectRefused(Diff("a/torch/lib/x.so", "b/torch/lib/x.so"), "torch/lib/x.so", "Python");
  ExpectRefused(Diff("a/torch/x.cpp", "b/torch/x.cpp"), "torch/x.cpp", "recipe");
  ExpectRefused(Diff("a/../up.py", "b/../up.py"), "../up.py", "out of site-packages");
  ExpectRefused(Diff("/etc/x.py", "/etc/x.py"), "/etc/x.py", "out of site-packages");
  ExpectRefused(Diff("a/gone.py", "/dev/null"), "a/gone.py", "deleted");
  ExpectRefused("rename from a.py\nrename to b.py\n", "a.py", "renamed");
  ExpectRefused(Diff("a/x.py", "b/y.py"), "y.py", "another name");
  ExpectRefused(Diff("a/x.py", "b/x.py") + Diff("a/x.py", "b/x.py"), "x.py", "twice");
  ExpectRefused("diff --git a/x b/x\nGIT binary patch\n", "binary", "Python");
  ExpectRefused("hello\n", "unified diff", "git diff");
}

}  // namespace
}  // namespace dynbench::worker
