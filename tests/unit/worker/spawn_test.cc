// Method: real programs that tell what they inherited.
#include "worker/process/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "worker/host/split.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

SpawnOptions Shell(const std::string& script) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  return options;
}

TEST(Spawn, TheChildHasOnlyTheNamedDescriptors) {
  const UniqueFd leaked(open("/dev/null", O_RDONLY));  // deliberately without O_CLOEXEC
  const UniqueFd wanted(open("/dev/zero", O_RDONLY));
  SpawnOptions options = Shell("ls -1 /proc/$$/fd; readlink /proc/$$/fd/7; readlink /proc/$$/fd/0");
  options.fds = {{7, wanted.get()}};
  const auto result = RunCommand(options, 20'000);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "0\n1\n2\n7\n/dev/zero\n/dev/null\n");
}

TEST(Spawn, EnvironmentIsExactlyWhatWasGivenAndNoCoreIsWritten) {
  setenv("DYNBENCH_TEST_SECRET", "token", 1);
  SpawnOptions options;
  options.argv = {"/usr/bin/env"};
  options.environment = {{"A", "1"}, {"B", "x=y"}};
  auto result = RunCommand(options, 20'000);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "A=1\nB=x=y\n");
  result = RunCommand(Shell("ulimit -c; [ $(ps -o sid= -p $$) -eq $$ ] && echo leader"), 20'000);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(absl::StartsWith(result->output, "0\n")) << result->output;
}

TEST(Spawn, AMissingProgramOrFolderIsAnErrorThatNamesIt) {
  SpawnOptions options;
  options.argv = {"/no/such/program"};
  auto pid = Spawn(options);
  ASSERT_FALSE(pid.ok());
  EXPECT_TRUE(absl::StrContains(pid.status().message(), "/no/such/program")) << pid.status();
  options.argv = {"/bin/true"};
  options.working_dir = "/no/such/folder";
  pid = Spawn(options);
  ASSERT_FALSE(pid.ok());
  EXPECT_TRUE(absl::StrContains(pid.status().message(), "chdir")) << pid.status();
}

TEST(Spawn, ACommandOverItsTimeIsKilledWithItsGroup) {
  const auto result = RunCommand(Shell("echo begun; sleep 1000"), 100);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(absl::StrContains(result.status().message(), "begun")) << result.status();
}

TEST(Spawn, ExitStatusesAreTold) {
  EXPECT_EQ(RunCommand(Shell("exit 7"), 20'000)->exit.code, 7);
  const auto killed = RunCommand(Shell("kill -SEGV $$"), 20'000);
  EXPECT_EQ(killed->exit.code, -1);
  EXPECT_EQ(killed->exit.signal, SIGSEGV);
}

TEST(Spawn, LimitsReachTheChildAndNothingIsRaised) {
  SpawnOptions options;
  options.argv = {"/bin/cat", "/proc/self/limits"};
  options.memory_limit_bytes = int64_t{1} << 30;
  options.processes_limit = 1'000;
  const auto ran = RunCommand(options, 10'000);
  ASSERT_TRUE(ran.ok()) << ran.status();
  EXPECT_GT(ran->pid, 0);
  const auto words_of = [&](const std::string& name) {
    const size_t line = ran->output.find(name);
    std::istringstream words(ran->output.substr(line + name.size()));
    std::string soft, hard;
    words >> soft >> hard;
    return std::pair(soft, hard);
  };
  EXPECT_EQ(words_of("Max data size"),
            std::pair(std::string("1073741824"), std::string("1073741824")));
  EXPECT_EQ(words_of("Max processes"), std::pair(std::string("1000"), std::string("1000")));
  EXPECT_EQ(words_of("Max core file size").first, "0");
}

}  // namespace
}  // namespace dynbench::worker
