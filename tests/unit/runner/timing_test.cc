// The timing loop with sides that only write down what is done to them: the order of everything
// that must stay out of a sample is the protocol.
#include "worker/runner/timing.h"

#include <stdexcept>
#include <string>

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

TimingPlan Plan(std::string* log) {
  const auto write = [log](const char* what) { return [log, what] { *log += what; }; };
  return {.repeat = 2,
          .iterations_per_run = 1,
          .synchronize = write("s"),
          .reseed = write("r"),
          .eager = {write("[e"), write("E"), write("]")},
          .compiled = {write("[c"), write("C"), write("]")}};
}

TEST(TimingTest, PairsAreEagerThenCompiledWithADeviceAtRestAround) {
  std::string log;
  const Samples samples = TimePairs(Plan(&log));
  EXPECT_EQ(log, "[esrEs][csrCs][esrEs][csrCs]");
  EXPECT_EQ(samples.eager_ns.size(), 2u);
  EXPECT_EQ(samples.compiled_ns.size(), 2u);
  for (const int64_t ns : samples.eager_ns) EXPECT_GE(ns, 0);
}

TEST(TimingTest, SeveralCallsMakeOneSampleAndWaitOnce) {
  std::string log;
  TimingPlan plan = Plan(&log);
  plan.repeat = 1;
  plan.iterations_per_run = 3;
  EXPECT_EQ(TimePairs(plan).eager_ns.size(), 1u);
  EXPECT_EQ(log, "[esrE]E]Es][csrC]C]Cs]");
}

TEST(TimingTest, WhatIsDoneBeforeEachCallIsWaitedFor) {
  std::string log;
  TimingPlan plan = Plan(&log);
  plan.repeat = 1;
  plan.iterations_per_run = 2;
  plan.compiled.before_call = [&log] { log += "-"; };
  TimePairs(plan);
  EXPECT_EQ(log, "[esrE]Es][csr-sC]-sCs]");
}

TEST(TimingTest, ACallThatThrowsEndsTheLoop) {
  std::string log;
  TimingPlan plan = Plan(&log);
  plan.compiled.call = [] { throw std::runtime_error("guard"); };
  EXPECT_THROW(TimePairs(plan), std::runtime_error);
  EXPECT_EQ(log, "[esrEs][csr");
}

}  // namespace
}  // namespace dynbench::runner
