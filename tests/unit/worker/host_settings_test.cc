// Settings from a folder that is laid out as a host's proc and sys are; then from this host itself.
#include "worker/host/host_settings.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

class HostSettings : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = scratch_.path() + "/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::map<std::string, std::string> Read() { return ReadHostSettings(scratch_.path()); }

  ScratchDir scratch_;
};

TEST_F(HostSettings, NamesWhatTheKernelTells) {
  Write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
  Write("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
  Write("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "performance\n");
  Write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  Write("sys/devices/system/cpu/smt/control", "off\n");
  Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  Write("proc/sys/kernel/numa_balancing", "0\n");
  Write("proc/cpuinfo",
        "processor\t: 0\nmicrocode\t: 0xa1\nflags\t\t: fpu hypervisor\n\n"
        "processor\t: 1\nmicrocode\t: 0xb2\n");
  const std::map<std::string, std::string> wanted = {{"governor", "performance, powersave"},
                                                     {"turbo", "on"},
                                                     {"SMT", "off"},
                                                     {"transparent huge pages", "madvise"},
                                                     {"NUMA balancing", "off"},
                                                     {"microcode", "0xa1"},
                                                     {"virtual machine", "yes"}};
  EXPECT_EQ(Read(), wanted);
}

TEST_F(HostSettings, IntelsSwitchIsTheOtherWayRound) {
  Write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  EXPECT_EQ(Read()["turbo"], "off");
}

TEST_F(HostSettings, WhatIsNotToldIsAbsent) { EXPECT_TRUE(Read().empty()); }

TEST_F(HostSettings, WhatMayChangeIsReadAgainAndNamedWhenItDid) {
  Write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
  Write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  Write("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0\n");
  const auto before = ReadChangingSettings(scratch_.path());
  EXPECT_EQ(before.at("allowed cores"), "0-3");
  EXPECT_EQ(ChangedSettings(before, ReadChangingSettings(scratch_.path())), "");
  Write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
  Write("sys/devices/system/cpu/smt/control", "on\n");
  EXPECT_EQ(ChangedSettings(before, ReadChangingSettings(scratch_.path())),
            "SMT was absent, is on; governor was performance, is powersave");
}

TEST(HostSettingsOfThisHost, HasItsCompiler) {
  const auto settings = ReadHostSettings("");
  ASSERT_TRUE(settings.contains("C++ compiler"));
  EXPECT_NE(settings.at("C++ compiler").find('.'), std::string::npos);
}

}  // namespace
}  // namespace dynbench::worker
