// Method: the real host is asked, with this process's mask narrowed to one CPU; cgroup files and
// GPUs are made up.
#include "worker/host/inventory.h"

#include <sched.h>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/host/core_set.h"

namespace dynbench::worker {
namespace {

class FakeGpus : public GpuProbe {
 public:
  std::optional<GpuUse> Use(const std::string&) override { return std::nullopt; }
  std::vector<Gpu> List() override {
    return {{0, "GPU-aa", "H", "0:1", 1}, {1, "GPU-bb", "H", "0:2", 1}};
  }
};

TEST(Inventory, StaysInsideTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  FakeGpus gpus;
  const auto all = TakeInventory(gpus).AllowedCpus();
  EXPECT_EQ(all.size(), static_cast<size_t>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(all.back(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Inventory narrowed = TakeInventory(gpus);
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(narrowed.AllowedCpus(), std::vector<int>{all.back()});
  EXPECT_EQ(narrowed.sockets, 1);
  EXPECT_GT(narrowed.memory_bytes, 0);
  EXPECT_LE(narrowed.memory_limit_bytes, narrowed.memory_bytes);
  const auto json = ToJson(narrowed);
  EXPECT_EQ(json.at("cpus"), std::to_string(all.back()));
  EXPECT_EQ(json.at("physical_cores"), 1);
}

TEST(Inventory, TheSmallestMemoryLimitOnTheWayUpCounts) {
  ScratchDir root;
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "cg/a/b");
  WriteText(root / "proc/self/cgroup", "0::/a/b\n");
  WriteText(root / "proc/self/mountinfo", "30 1 0:2 / /cg rw - cgroup2 cgroup rw\n");
  EXPECT_EQ(CgroupMemoryLimit(root.path()), 0);
  WriteText(root / "cg/a/b/memory.max", "max\n");
  WriteText(root / "cg/a/memory.max", "1000000\n");
  EXPECT_EQ(CgroupMemoryLimit(root.path()), 1'000'000);
  WriteText(root / "cg/a/b/memory.max", "500000\n");
  EXPECT_EQ(CgroupMemoryLimit(root.path()), 500'000);
  // Version 1, whose "no limit" is a huge number.
  std::filesystem::create_directories(root / "m/x");
  WriteText(root / "proc/self/cgroup", "4:cpu:/x\n3:memory:/x\n");
  WriteText(root / "proc/self/mountinfo", "35 1 0:3 / /m rw - cgroup cgroup rw,memory\n");
  WriteText(root / "m/x/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(CgroupMemoryLimit(root.path()), 0);
  WriteText(root / "m/x/memory.limit_in_bytes", "4096\n");
  EXPECT_EQ(CgroupMemoryLimit(root.path()), 4'096);
}

TEST(Inventory, VisibleGpusFollowTheVariable) {
  const std::vector<Gpu> all = FakeGpus().List();
  EXPECT_EQ(VisibleGpus(all, nullptr).size(), 2u);
  EXPECT_TRUE(VisibleGpus(all, "").empty());
  const auto turned = VisibleGpus(all, "1,GPU-aa");
  ASSERT_EQ(turned.size(), 2u);
  EXPECT_EQ(turned[0].uuid, "GPU-bb");
  EXPECT_EQ(turned[0].index, 0);
  EXPECT_EQ(VisibleGpus(all, "0,7,1").size(), 1u);
}

TEST(Inventory, NoDriverIsNoGpuAndNoError) {
  // On a host with a driver this lists real ones; either way it returns.
  for (const Gpu& gpu : MakeNvmlProbe()->List()) EXPECT_FALSE(gpu.uuid.empty());
}

TEST(CoreSet, RoundTrip) {
  EXPECT_EQ(FormatCoreSet(*ParseCoreSet("3,0-1,2,8")), "0-3,8");
  EXPECT_EQ(FormatCoreSet({}), "");
  for (const char* bad : {"", "a", "3-1", "-1", "1,,2", "0-99999", "1 2"}) {
    EXPECT_FALSE(ParseCoreSet(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace dynbench::worker
