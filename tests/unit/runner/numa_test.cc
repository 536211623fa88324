// Method: a folder laid out as the kernel's, with two nodes; then this process is bound to its own
// node in a child, where the kernel allows it, and asked what is in force.
#include "worker/runner/numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/runner/cores.h"

namespace dynbench::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NodesOf, AreThoseOfTheCores) {
  std::string root = testing::TempDir() + "/numa.XXXXXX";
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  for (const char* folder :
       {"cpu0/node0", "cpu0/cache", "cpu1/node0", "cpu2/node1", "cpu3/nodes"}) {
    std::filesystem::create_directories(root + "/" + folder);
  }
  EXPECT_THAT(NodesOf({1, 0}, root), ElementsAre(0));
  EXPECT_THAT(NodesOf({2, 0}, root), ElementsAre(0, 1));
  EXPECT_THAT(NodesOf({3}, root), IsEmpty());   // a kernel that knows of no nodes
  EXPECT_THAT(NodesOf({99}, root), IsEmpty());  // no such core
  std::filesystem::remove_all(root);
}

TEST(BindMemory, IsInForceOrRefusedAloud) {
  const std::vector<int> nodes = NodesOf(AllowedCores());
  if (nodes.empty()) GTEST_SKIP() << "this kernel knows of no NUMA nodes";
  const pid_t child = fork();
  if (child == 0) {
    try {
      BindMemory(nodes);
    } catch (const std::runtime_error&) {
      _exit(errno == EPERM || errno == ENOSYS ? 2 : 1);  // containers may forbid it
    }
    int mode = -1;
    const long asked = syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0);
    _exit(asked == 0 && mode == MPOL_BIND ? 0 : asked != 0 ? 2 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "this host forbids memory policies";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace dynbench::runner
