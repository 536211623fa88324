// Method: a subreaper of our own (a forked process) grows a real tree of shells that evade in every
// way known: a session of their own, a double fork, ignored TERM. Pipes say when the tree stands;
// afterwards /proc is asked who is left.
#include "worker/process/process_tree.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/worker/process_tree_testing.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

constexpr char kEvasiveTree[] = R"(
  trap '' TERM INT HUP
  setsid sh -c 'echo up >&9; exec 9>&-; exec sleep 1000' &
  ( ( trap '' TERM; echo up >&9; exec 9>&-; while :; do sleep 1000; done ) & )
  sh -c 'trap "" TERM; echo up >&9; exec 9>&-; while :; do :; done' &
  exec 9>&-
  wait
)";

TEST_F(ProcessTreeTest, AnEvasiveTreeIsGoneAfterTermGraceAndKill) {
  Grow(kEvasiveTree, 3);
  ASSERT_GE(Descendants(getpid()).size(), 4u);
  const KillTreeReport report = KillTree({.root = getpid(), .grace_ms = 50, .reap = Reap});
  EXPECT_TRUE(report.gone);
  EXPECT_GE(report.signalled, 4);
  EXPECT_TRUE(Descendants(getpid()).empty());
}

TEST_F(ProcessTreeTest, ATreeThatObeysTermIsNotWaitedForLonger) {
  Grow("echo up >&9; exec 9>&-; exec sleep 1000", 1);
  // Were the grace spent to its end, the test would run into its time limit.
  const KillTreeReport report = KillTree({.root = getpid(), .grace_ms = 600'000, .reap = Reap});
  EXPECT_TRUE(report.gone);
}

TEST_F(ProcessTreeTest, StoppedProcessesAreEndedToo) {
  Grow(kEvasiveTree, 3);
  ASSERT_TRUE(StopTree(getpid()));
  EXPECT_TRUE(KillTree({.root = getpid(), .grace_ms = 20, .reap = Reap}).gone);
  EXPECT_TRUE(Descendants(getpid()).empty());
}

// The child of a vfork stops itself before its exec, so the parent waits uninterruptibly, as a
// shell or subprocess.Popen does for an instant.
TEST_F(ProcessTreeTest, AParentInVforkStopsAndGoesOn) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  if (fork() == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      raise(SIGSTOP);
      execl("/bin/sleep", "sleep", "1000", nullptr);
      _exit(127);
    }
    // Reached once the child has run its exec: the parent went on.
    (void)!write(ends[1], "x", 1);
    pause();
  }
  close(ends[1]);
  UniqueFd in(ends[0]);
  while (Descendants(getpid()).size() < 2) sched_yield();
  ASSERT_TRUE(StopTree(getpid()));
  ASSERT_TRUE(ContinueTree(getpid()));
  char c = 0;
  EXPECT_EQ(read(in.get(), &c, 1), 1);
  EXPECT_TRUE(KillTree({.root = getpid(), .reap = Reap}).gone);
}

// Forks for ever, each fork as slow as that of a process with torch in it (its page tables), so
// that now and then one ends between a walk's list and the look at its parent.
[[noreturn]] void ForkForEver(int grown) {
  constexpr size_t kBytes = 128 << 20;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  memset(memory, 1, kBytes);
  signal(SIGCHLD, SIG_IGN);
  (void)!write(grown, "x", 1);
  pid_t last = 0;
  while (true) {
    const pid_t child = fork();
    const volatile bool spins = child == 0;
    while (spins) {
    }
    if (last > 0) kill(last, SIGKILL);
    last = child;
  }
}

TEST_F(ProcessTreeTest, WhoIsForkedWhileItsParentIsStoppedStandsStillToo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  if (fork() == 0) ForkForEver(ends[1]);
  close(ends[1]);
  UniqueFd in(ends[0]);
  char c = 0;
  ASSERT_EQ(read(in.get(), &c, 1), 1);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(StopTree(getpid()));
    for (const ProcessStat& process : Descendants(getpid())) {
      ASSERT_EQ(process.state, 'T') << process.pid << ", round " << i;
    }
    ASSERT_TRUE(ContinueTree(getpid()));
  }
}

TEST_F(ProcessTreeTest, TheSparedSubtreeLives) {
  Grow("echo up >&9; exec 9>&-; sh -c 'exec sleep 1000' & wait", 1);
  const auto first = Descendants(getpid());
  ASSERT_FALSE(first.empty());
  const pid_t spared = first[0].pid;
  Grow("echo up >&9; exec 9>&-; exec sleep 1000", 1);
  const auto report =
      KillTree({.root = getpid(),
                .reap = [] {},
                .spare = [&](const ProcessStat& process) { return process.pid == spared; }});
  EXPECT_EQ(report.signalled, 1);
  EXPECT_TRUE(ReadProcessStat(spared).has_value());
}

TEST_F(ProcessTreeTest, AReusedPidIsNotSignalled) {
  Grow("echo up >&9; exec 9>&-; exec sleep 1000", 1);
  ProcessStat someone_before = Descendants(getpid()).at(0);
  const ProcessStat now = someone_before;
  someone_before.start_ticks -= 1;  // what a former owner of the pid would have had
  EXPECT_FALSE(SignalProcess(someone_before, SIGKILL));
  EXPECT_TRUE(SignalProcess(now, 0));
}

TEST_F(ProcessTreeTest, NamesWithBlanksAndParenthesesAreRead) {
  ScratchDir dir;
  const std::string name = dir / "a) R (b";
  ASSERT_EQ(symlink("/bin/sleep", name.c_str()), 0);
  Grow("echo up >&9; exec 9>&-; exec '" + name + "' 1000", 1);
  auto tree = Descendants(getpid());
  ASSERT_EQ(tree.size(), 1u);
  // The exec comes after the word; the name shows that it has been.
  while (ReadText("/proc/" + std::to_string(tree[0].pid) + "/comm") != "a) R (b\n") {
  }
  tree = Descendants(getpid());
  ASSERT_EQ(tree.size(), 1u);
  EXPECT_EQ(tree[0].parent, getpid());
  EXPECT_GT(tree[0].start_ticks, 0u);
}

// KILL reaches everybody who is not in the kernel, so one whom it does not reach is imitated by a
// signal that is not sent.
TEST_F(ProcessTreeTest, WhoDoesNotEndIsNamedAndTheOthersAreGone) {
  Grow("sleep 1000 & echo up >&9; exec sleep 999", 1);
  const auto tree = Descendants(getpid());
  const auto deaf = std::find_if(tree.begin(), tree.end(), [](const ProcessStat& process) {
    return CommandOf(process.pid) == "sleep 1000";
  });
  const pid_t deaf_pid = deaf == tree.end() ? tree.front().pid : deaf->pid;
  const auto report = KillTree({.root = getpid(),
                                .give_up_ms = 200,
                                .reap = Reap,
                                .signal = [&](const ProcessStat& process, int signal) {
                                  return process.pid == deaf_pid || SignalProcess(process, signal);
                                }});
  EXPECT_FALSE(report.gone);
  ASSERT_EQ(report.left.size(), 1u);
  EXPECT_EQ(report.left[0].pid, deaf_pid);
  EXPECT_NE(CommandOf(deaf_pid), "");
  EXPECT_EQ(Descendants(getpid()).size(), 1u);
  EXPECT_TRUE(KillTree({.root = getpid(), .reap = Reap}).gone);
  EXPECT_EQ(CommandOf(deaf_pid), "");
}

}  // namespace
}  // namespace dynbench::worker
