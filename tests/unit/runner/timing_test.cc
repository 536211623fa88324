// The timing loop with sides that only write down what is done to them: the order of everything
// that must stay out of a sample is the protocol.
#include "worker/runner/timing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
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

// A side that is given pages by the kernel in each call, as a heap that trims itself is.
TEST(TimingTest, PageFaultsOfACallAreCountedForItsSide) {
  constexpr size_t kPages = 300;
  std::string log;
  TimingPlan plan = Plan(&log);
  plan.compiled.call = [] {
    const size_t bytes = kPages * static_cast<size_t>(getpagesize());
    auto* pages = static_cast<char*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages, MAP_FAILED);
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += static_cast<size_t>(getpagesize())) pages[i] = 1;
    munmap(pages, bytes);
  };
  const Samples samples = TimePairs(plan);
  EXPECT_EQ(samples.eager_faults.size(), 2u);
  for (const int64_t faults : samples.compiled_faults) EXPECT_GE(faults, int64_t{kPages});
  for (const int64_t faults : samples.eager_faults) EXPECT_LT(faults, int64_t{kPages} / 2);
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
