// Method: made tables of processes, a folder laid out as /proc is, and this host's own.
#include "worker/runner/foreign_processes.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::runner {
namespace {

TEST(ForeignProcesses, TheBusiestAreNamedFirst) {
  const std::map<pid_t, ProcessTime> before = {
      {1, {"init", 50}}, {7, {"cc1plus", 10}}, {8, {"sh", 4}}, {9, {"old", 900}}};
  const std::map<pid_t, ProcessTime> after = {{1, {"init", 50}},  // idle
                                              {7, {"cc1plus", 60}},
                                              {8, {"sh", 5}},
                                              {9, {"new", 40}},  // its number was used again
                                              {10, {"python3", 30}}};
  EXPECT_EQ(Busiest(before, after), "cc1plus (pid 7), new (pid 9), python3 (pid 10)");
  EXPECT_EQ(Busiest(after, after), "");
}

TEST(ForeignProcesses, NamesMayHoldAnything) {
  const worker::ScratchDir proc;
  const auto write = [&](const std::string& pid, const std::string& stat) {
    std::filesystem::create_directories(proc.path() + "/" + pid);
    std::ofstream(proc.path() + "/" + pid + "/stat") << stat << "\n";
  };
  write("12", "12 (a) b (c)) S 1 12 12 0 -1 4194560 1 2 3 4 70 5 6 7 20 0 1 0 99 1 1");
  write("13", "13 (self) R 1 13 13 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 99 1 1");
  write("14", "14 (cut short");
  write("self", "13 (self) R 1 13 13 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 99 1 1");
  const std::map<pid_t, ProcessTime> wanted = {{12, {"a) b (c)", 75, 1, 13}}};
  EXPECT_EQ(ProcessTimes(proc.path(), 13), wanted);
}

TEST(ForeignProcesses, ATreeIsWhoeverIsBelow) {
  const std::map<pid_t, ProcessTime> all = {
      {1, {"init", 0, 0}},  {5, {"lane", 0, 1}},   {6, {"child", 0, 5}},  {7, {"compiler", 0, 6}},
      {8, {"other", 0, 1}}, {3, {"worker", 0, 6}}, {9, {"itself", 0, 9}}, {10, {"orphan", 0, 77}}};
  EXPECT_EQ(Below(all, 5), (std::set<pid_t>{3, 6, 7}));
  EXPECT_EQ(Below(all, 8), std::set<pid_t>());
  EXPECT_EQ(Below(all, 9), std::set<pid_t>()) << "a pid that was read while it changed hands";
}

TEST(ForeignProcesses, ThisHostHasSomeAndNotUs) {
  const auto all = ProcessTimes("/proc", getpid());
  EXPECT_FALSE(all.empty());
  EXPECT_EQ(all.count(getpid()), 0u);
  EXPECT_EQ(ProcessTimes("/proc", 0).count(getpid()), 1u);
}

}  // namespace
}  // namespace dynbench::runner
