// Method: real processes of the system's shell, started as daemons, stopped politely, stopped while
// they ignore it, and named by a reference that is no longer true, which must not be touched.
#include "tools/dynbenchctl/process_ref.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iterator>

#include "common/base/time.h"
#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A shell that waits for ever without using time: reading a pipe that nobody writes. It is ready
// once mkfifo has ended: one that outlives the shell would write into a folder that is being
// removed.
constexpr char kForever[] = "mkfifo \"$0\"; echo ready; read x < \"$0\"";

ProcessRef StartForever(const TemporaryFolder& folder, const std::string& name,
                        const std::string& before) {
  const std::string log = folder.path() + "/" + name + ".log";
  const auto process =
      StartDaemon({"/bin/sh", "-c", before + kForever, folder.path() + "/" + name}, log);
  EXPECT_TRUE(process.ok()) << process.status();
  const MonotonicTime deadline = MonotonicNow() + 20 * kNsPerSecond;
  while (Read(log) != "ready\n" && MonotonicNow() < deadline) sched_yield();
  return *process;
}

TEST(ProcessRef, ADaemonHasItsOwnSessionAndFolderAndItsOutputIsKept) {
  const TemporaryFolder folder;
  const ProcessRef process = StartForever(folder, "a", "");
  EXPECT_TRUE(IsRunning(process));
  EXPECT_EQ(getsid(process.pid), process.pid);
  EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(process.pid) + "/cwd"), "/");
  EXPECT_EQ(Read(folder.path() + "/a.log"), "ready\n");
  EXPECT_TRUE(StopAll({process}, 20'000).ok());
  EXPECT_FALSE(IsRunning(process));
  int status = 0;
  ASSERT_EQ(waitpid(process.pid, &status, 0), process.pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST(ProcessRef, OneThatIgnoresTermIsKilled) {
  const TemporaryFolder folder;
  const ProcessRef process = StartForever(folder, "a", "trap '' TERM; ");
  EXPECT_TRUE(StopAll({process}, 50).ok());
  int status = 0;
  ASSERT_EQ(waitpid(process.pid, &status, 0), process.pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(ProcessRef, AReusedNumberIsNotTouched) {
  const TemporaryFolder folder;
  const ProcessRef process = StartForever(folder, "a", "");
  ProcessRef earlier = process;
  earlier.start_ticks -= 1;
  ProcessRef other_boot = process;
  other_boot.boot_id = "before the restart";
  EXPECT_FALSE(IsRunning(earlier));
  EXPECT_TRUE(StopAll({earlier, other_boot, ProcessRef{}}, 0).ok());
  EXPECT_TRUE(IsRunning(process)) << "somebody else's process";
  EXPECT_TRUE(StopAll({process}, 20'000).ok());
  waitpid(process.pid, nullptr, 0);
}

TEST(ProcessRef, AZombieIsNotRunning) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(Capture(child).has_value());
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(Capture(getpid()).has_value());
}

TEST(ProcessRef, AProgramThatDoesNotExistIsAnError) {
  const TemporaryFolder folder;
  const auto process = StartDaemon({"/none/such"}, folder.path() + "/log");
  EXPECT_FALSE(process.ok());
}

}  // namespace
}  // namespace dynbench::cli
