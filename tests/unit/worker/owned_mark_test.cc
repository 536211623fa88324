// Method: real processes with and without the mark, some of which clear their environment or are
// stopped; afterwards the kernel says who lives. The watchdog runs in a forked process, as the
// worker's program would run it.
#include "worker/process/owned_mark.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/host/alias_sweep.h"
#include "worker/process/fd_passing.h"
#include "worker/process/spawn.h"
#include "worker/process/watchdog.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

// Of this process alone: other tests run beside.
std::string TestMark() { return OwnerMark("test-" + std::to_string(getpid()), 17); }

pid_t Start(const std::string& script, const std::string& mark) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  if (!mark.empty()) options.environment[kOwnerVariable] = mark;
  const auto pid = Spawn(options);
  EXPECT_TRUE(pid.ok()) << pid.status();
  return pid.value_or(0);
}

size_t CountOf(const std::string& mark) { return ProcessesOfOwner(mark).size(); }

void AwaitCount(const std::string& mark, size_t count) {
  while (CountOf(mark) != count) sched_yield();  // a hang runs into the test's time limit
}

TEST(OwnedMarkTest, TheVariableIsFoundAsAWholeAndByItsBeginning) {
  const std::string environ_text("A=1\0XDYNBENCH_OWNER=w/1\0DYNBENCH_OWNER=w/17\0B=2\0", 48);
  EXPECT_TRUE(HasOwner(environ_text, OwnerPrefix("w")));
  EXPECT_TRUE(HasOwner(environ_text, OwnerMark("w", 17)));
  EXPECT_FALSE(HasOwner(environ_text, OwnerMark("w", 1) + "/"));
  EXPECT_FALSE(HasOwner(environ_text, OwnerPrefix("w2")));
  EXPECT_FALSE(HasOwner("", OwnerPrefix("w")));
}

TEST(OwnedMarkTest, WhatCarriesTheMarkAndWhatItStartedIsEndedAndNobodyElse) {
  const std::string mark = TestMark();
  const pid_t stranger = Start("exec sleep 1000", "");
  const pid_t other = Start("exec sleep 1000", OwnerMark("other-worker", 17));
  // A session of its own, one that cleared its environment below one that has not, one stopped.
  const pid_t marked = Start(
      "setsid sleep 1000 & env -i /bin/sleep 1000 & sh -c 'kill -STOP $$; sleep 1' & wait", mark);
  AwaitCount(mark, 4);
  EXPECT_EQ(KillProcessesOfOwner(OwnerPrefix("test-" + std::to_string(getpid()))), 4);
  EXPECT_EQ(CountOf(mark), 0u);
  EXPECT_EQ(kill(stranger, 0), 0);
  EXPECT_EQ(kill(other, 0), 0);
  for (const pid_t pid : {stranger, other, marked}) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

TEST(OwnedMarkTest, LanesThatLiveAreLeftTimeToEndTheirTrees) {
  const std::string mark = TestMark();
  const pid_t lane = Start("sleep 1; :", mark);
  AwaitCount(mark, 2);
  EXPECT_EQ(EndProcessesOfOwner(mark, 60'000), 0) << "it ended by itself";
  waitpid(lane, nullptr, 0);
}

class WatchdogTest : public testing::TestWithParam<bool> {};

TEST_P(WatchdogTest, EndsWhatIsLeftWhenItsWorkerIsGoneWithoutAWord) {
  const bool killed = GetParam();
  const std::string mark = TestMark();
  auto [ours, theirs] = SocketPair();
  const pid_t watchdog = fork();
  if (watchdog == 0) {
    ours.reset();
    const std::string fd = std::to_string(theirs.get());
    char* argv[] = {const_cast<char*>("worker"), const_cast<char*>(kWatchdogWord),
                    const_cast<char*>(fd.c_str()), const_cast<char*>(mark.c_str())};
    _exit(RunAsWatchdog(4, argv).value_or(99));
  }
  theirs.reset();
  const pid_t orphan = Start("exec sleep 1000", mark);
  AwaitCount(mark, 1);
  if (!killed) {
    ASSERT_EQ(write(ours.get(), "q", 1), 1);
  }
  ours.reset();
  int status = 0;
  ASSERT_EQ(waitpid(watchdog, &status, 0), watchdog);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(CountOf(mark), killed ? 0u : 1u);
  kill(orphan, SIGKILL);
  waitpid(orphan, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(Ends, WatchdogTest, testing::Bool());

TEST(AliasSweepTest, OnlyLinksIntoOurStateFolderAreSwept) {
  const ScratchDir dir;
  const std::string state = dir / "state", tmp = dir / "tmp";
  fs::create_directories(state + "/folder");
  for (const char* name : {"/dynbench-ourOne", "/dynbench-theirs", "/dynbench-mixed1",
                           "/dynbench-empty1", "/dynbench-longer-name", "/elsewhere"}) {
    fs::create_directories(tmp + name);
  }
  fs::create_symlink(state + "/gone", tmp + "/dynbench-ourOne/0");  // dangling by now
  fs::create_symlink("/usr/include", tmp + "/dynbench-ourOne/1");
  fs::create_symlink(state + "2/folder", tmp + "/dynbench-theirs/0");
  fs::create_symlink(state + "/folder", tmp + "/dynbench-mixed1/0");
  WriteText(tmp + "/dynbench-mixed1/file", "somebody's");
  fs::create_symlink(state + "/folder", tmp + "/dynbench-longer-name/0");
  fs::create_symlink(state + "/folder", tmp + "/elsewhere/0");
  EXPECT_EQ(SweepPathAliases(tmp, state), 1);
  EXPECT_FALSE(fs::exists(tmp + "/dynbench-ourOne"));
  EXPECT_TRUE(fs::exists(state + "/folder"));
  for (const char* name : {"/dynbench-theirs", "/dynbench-mixed1", "/dynbench-empty1",
                           "/dynbench-longer-name", "/elsewhere"}) {
    EXPECT_TRUE(fs::exists(tmp + name)) << name;
  }
}

}  // namespace
}  // namespace dynbench::worker
