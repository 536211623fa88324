// Method: a text of /proc/stat worked out by hand, and this process's own load on its cores.
#include "worker/runner/core_load.h"

#include <time.h>
#include <unistd.h>

#include <vector>

#include "gtest/gtest.h"
#include "worker/runner/cores.h"
#include "worker/runner/phases.h"

namespace dynbench::runner {
namespace {

constexpr char kStat[] =
    "cpu  111 0 0 0 0 0 0 0 0 0\n"
    "cpu0 10 1 2 500 7 3 4 5 9 9\n"
    "cpu1 1 0 0 900 0 0 0 0 0 0\n"
    "cpu12 40 0 0 0 0 0 0 0 0 0\n"
    "intr 1 2 3\n";

TEST(CoreLoad, BusyIsEverythingButIdlenessOfTheseCores) {
  const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  EXPECT_EQ(BusyNs(kStat, {0}), 25 * tick_ns);
  EXPECT_EQ(BusyNs(kStat, {1, 12}), 41 * tick_ns);
  EXPECT_EQ(BusyNs(kStat, {2}), 0) << "12 is another one";
  EXPECT_EQ(BusyNs("", {0}), 0);
}

TEST(CoreLoad, TheOthersAreAllThatTheKernelNames) {
  EXPECT_EQ(OtherCores(kStat, {1}), (std::vector<int>{0, 12}));
  EXPECT_EQ(OtherCores(kStat, {0, 1, 12}), std::vector<int>());
  EXPECT_FALSE(CoreLoad({}).OtherCoresShare());
  const auto share = CoreLoad({1'000'000}).OtherCoresShare();
  ASSERT_TRUE(share);
  EXPECT_GE(*share, 0);
  EXPECT_LE(*share, 1);
}

int64_t OwnNs() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Whoever else runs here: what is called foreign and our own time fit into the cores' time
// together, but for the kernel's ticks.
TEST(CoreLoad, WhatThisProcessDoesIsNotForeign) {
  const std::vector<int> cores = AllowedCores();
  const int64_t begin_ns = NowNs(), own_begin_ns = OwnNs();
  const CoreLoad load(cores);
  while (NowNs() < begin_ns + 300'000'000) {
  }
  const double foreign = load.ForeignShare();
  const auto own = static_cast<double>(OwnNs() - own_begin_ns);
  const double whole = static_cast<double>(NowNs() - begin_ns) * static_cast<double>(cores.size());
  EXPECT_LE(foreign + own / whole, 1.1);
  EXPECT_EQ(CoreLoad({}).ForeignShare(), 0);
}

}  // namespace
}  // namespace dynbench::runner
