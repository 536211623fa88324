// Method: texts of the kernel, given by hand; what a group does to processes is in
// tree_freezer_test.cc.
#include "worker/process/cgroup.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

TEST(CgroupTest, Version2IsFoundBesideVersion1AndOnlyWhenWritable) {
  const std::string beside =
      "37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
      "38 31 0:35 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  EXPECT_EQ(FindCgroup2Mount(beside), "/sys/fs/cgroup/unified");
  EXPECT_EQ(FindCgroup2Mount("30 1 0:2 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n"),
            std::nullopt);
  EXPECT_EQ(FindCgroup2Mount("30 1 0:2 / /sys/fs/cgroup rw - cgroup cgroup rw,freezer\n"),
            std::nullopt);
  EXPECT_EQ(OwnCgroup2Path("5:freezer:/x\n0::/user.slice/a\n"), "/user.slice/a");
  EXPECT_EQ(OwnCgroup2Path("0::/\n"), "");
}

}  // namespace
}  // namespace dynbench::worker
