// Method: a text of /proc/stat worked out by hand, and this process's own load on its cores.
#include "worker/runner/core_load.h"

#include <sched.h>
#include <unistd.h>

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

TEST(CoreLoad, WhatThisProcessDoesIsNotForeign) {
  const std::vector<int> cores = AllowedCores();
  const CoreLoad load(cores);
  const int64_t end_ns = NowNs() + 200'000'000;
  while (NowNs() < end_ns) {
  }
  // Others may run here too, but our own core's worth is not among it.
  EXPECT_LE(load.ForeignShare(), 1.0 - 0.5 / static_cast<double>(cores.size()) + 0.1);
  EXPECT_EQ(CoreLoad({}).ForeignShare(), 0);
}

}  // namespace
}  // namespace dynbench::runner
