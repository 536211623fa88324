// Method: folders laid out as sysfs is, of hosts with and without the files.
#include "worker/runner/core_clocks.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::runner {
namespace {

class CoreClocksTest : public testing::Test {
 protected:
  void Write(int core, const std::string& name, const std::string& text) {
    const std::filesystem::path path =
        scratch_.path() + "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void WriteCore(int core, int package, const std::string& khz, const std::string& count) {
    Write(core, "cpufreq/scaling_cur_freq", khz);
    Write(core, "thermal_throttle/core_throttle_count", count);
    Write(core, "thermal_throttle/package_throttle_count", package == 0 ? "100" : "1000");
    Write(core, "topology/physical_package_id", std::to_string(package));
  }
  CoreClocks Read(const std::vector<int>& cores) { return ReadCoreClocks(scratch_.path(), cores); }

  worker::ScratchDir scratch_;
};

TEST_F(CoreClocksTest, MeanClockAndThrottlesOfTheseCoresAndTheirPackages) {
  WriteCore(0, 0, "2400000", "3");
  WriteCore(1, 0, "3000000", "4");
  WriteCore(2, 1, "1000000", "5");
  const CoreClocks both = Read({0, 1});
  EXPECT_EQ(both.mhz, 2'700);
  EXPECT_EQ(both.throttles, 107) << "a package counts once";
  EXPECT_EQ(Read({1, 2}).throttles, 4 + 5 + 100 + 1000);
}

TEST_F(CoreClocksTest, AHostThatDoesNotSay) {
  const CoreClocks nothing = Read({0, 1});
  EXPECT_FALSE(nothing.mhz);
  EXPECT_FALSE(nothing.throttles);
  Write(0, "cpufreq/scaling_cur_freq", "<unknown>");
  EXPECT_FALSE(Read({0}).mhz);
  Write(0, "cpufreq/scaling_cur_freq", "800000");
  EXPECT_EQ(Read({0, 1}).mhz, 800) << "of those that say";
  EXPECT_FALSE(Read({}).mhz);
}

}  // namespace
}  // namespace dynbench::runner
