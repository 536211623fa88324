// Method: the pythons of this machine, and a program that is none.
#include "worker/environments/interpreter.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

TEST(Interpreter, AVersionIsFoundAndAPathStandsForItself) {
  const auto any = FindInterpreter("3");
  if (!any.ok()) GTEST_SKIP() << any.status();
  const auto same = FindInterpreter(any->path);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->version, any->version);
  const auto exact = FindSameInterpreter("/no/such/python", any->version);
  ASSERT_TRUE(exact.ok()) << exact.status();
  EXPECT_EQ(exact->version, any->version);
}

TEST(Interpreter, WhatIsMissingIsSaidWithWhatThereIs) {
  const auto old = FindInterpreter("3.1");
  ASSERT_FALSE(old.ok());
  EXPECT_TRUE(absl::StrContains(old.status().message(), "no python 3.1;")) << old.status();
  EXPECT_FALSE(FindInterpreter("/bin/false").ok());
  const auto none = FindSameInterpreter("/bin/false", "3.1.0");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(none.status().message(), "needs python 3.1.0")) << none.status();
}

TEST(Interpreter, APythonOfNoVirtualEnvironmentIsSaidToBeNone) {
  const auto any = FindInterpreter("3");
  if (!any.ok()) GTEST_SKIP() << any.status();
  EXPECT_TRUE(absl::StrContains(AskVenv(any->path).status().message(), "no virtual environment"));
}

}  // namespace
}  // namespace dynbench::worker
