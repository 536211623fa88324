// Method: real folders and real processes; the GPU is a probe that says what the test wants, since
// the checks are about what is done with its answers.
#include "worker/host/preflight.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

using testing::HasSubstr;

class ScriptedGpus : public GpuProbe {
 public:
  std::vector<Gpu> List() override { return gpus; }
  std::optional<GpuUse> Use(const std::string&) override { return use; }

  std::vector<Gpu> gpus{{0, "GPU-1", "card", "", int64_t{8} << 30}};
  std::optional<GpuUse> use = GpuUse{};
};

constexpr int64_t kGib = int64_t{1} << 30;

class PreflightTest : public testing::Test {
 protected:
  PreflightTest() {
    spec_.state_dir = dir_.path();
    spec_.device = "cuda";
    spec_.device_uuid = "GPU-1";
  }
  ScratchDir dir_;
  ScriptedGpus gpus_;
  PreflightSpec spec_;
};

TEST_F(PreflightTest, AGoodSlotPassesAndNothingIsLeft) {
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "");
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(PreflightTest, AStateFolderThatIsGoneIsFound) {
  spec_.state_dir = dir_.path() + "/missing";
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "state");
}

TEST_F(PreflightTest, ADeviceThatFellOffIsFound) {
  gpus_.gpus.clear();
  const PreflightFinding finding = RunPreflight(spec_, gpus_);
  EXPECT_EQ(finding.check, "device");
  EXPECT_THAT(finding.reason, HasSubstr("GPU-1"));
}

TEST_F(PreflightTest, ADeviceThatDoesNotAnswerIsFoundWithItsWords) {
  spec_.python = dir_.path() + "/python";
  const auto install = [&](const char* text) {
    FILE* file = fopen(spec_.python.c_str(), "w");
    fputs(text, file);
    fclose(file);
    chmod(spec_.python.c_str(), 0700);
  };
  install("#!/bin/sh\necho \"device $4 of $CUDA_VISIBLE_DEVICES is on fire\"\nexit 1\n");
  pid_t ended = 0;
  spec_.ended = [&](pid_t pid) { ended = pid; };
  const PreflightFinding finding = RunPreflight(spec_, gpus_);
  EXPECT_EQ(finding.check, "device");
  EXPECT_THAT(finding.reason, HasSubstr("of GPU-1 is on fire"));
  EXPECT_GT(ended, 0);
  install("#!/bin/sh\nexit 0\n");
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "");
}

TEST_F(PreflightTest, AStrangerOnTheDeviceIsNamedAndLivesOn) {
  gpus_.use = GpuUse{2 * kGib, {{getppid(), 2 * kGib}}};
  const PreflightFinding finding = RunPreflight(spec_, gpus_);
  EXPECT_EQ(finding.check, "device_memory");
  EXPECT_THAT(finding.reason, HasSubstr("process " + std::to_string(getppid()) + " ("));
  EXPECT_EQ(kill(getppid(), 0), 0);
}

TEST_F(PreflightTest, OurOwnMemoryCountsOnlyWhenNothingOfOursRuns) {
  gpus_.use = GpuUse{2 * kGib, {{getpid(), 2 * kGib}}};
  spec_.device_is_free = false;
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "");
  spec_.device_is_free = true;
  EXPECT_THAT(RunPreflight(spec_, gpus_).reason, HasSubstr("of this worker"));
}

TEST_F(PreflightTest, AProcessThatKillDidNotReachClosesTheSlotUntilItIsGone) {
  // Imitated by one that nobody has killed yet.
  SpawnOptions options;
  options.argv = {"/bin/sleep", "1000"};
  const auto pid = Spawn(options);
  ASSERT_TRUE(pid.ok()) << pid.status();
  spec_.stuck = {{*ReadProcessStat(*pid), "/bin/sleep 1000"}};
  const PreflightFinding finding = RunPreflight(spec_, gpus_);
  EXPECT_EQ(finding.check, "process");
  EXPECT_THAT(finding.reason, HasSubstr("process " + std::to_string(*pid) + " (/bin/sleep 1000)"));
  kill(*pid, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(*pid), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "") << "a zombie holds nothing";
  waitpid(*pid, nullptr, 0);
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "");
  spec_.stuck = {{*ReadProcessStat(getpid()), "an earlier one with our pid"}};
  spec_.stuck[0].process.start_ticks -= 1;
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "");
}

TEST_F(PreflightTest, MemoryThatNobodyHoldsByNameIsFoundToo) {
  gpus_.use = GpuUse{2 * kGib, {}};
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "device_memory");
  gpus_.use = GpuUse{kGib / 2, {{1, 100 << 20}}};  // a driver's rest and a monitor
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "");
  gpus_.use = std::nullopt;  // a driver that does not say
  EXPECT_EQ(RunPreflight(spec_, gpus_).check, "");
}

TEST(ForeignProcesses, AreThoseThatAreKnownAndNotBelowUs) {
  const std::vector<ProcessStat> all = {
      {.pid = 10, .parent = 1}, {.pid = 11, .parent = 10}, {.pid = 20, .parent = 1}};
  const int64_t much = kForeignProcessBytes;
  EXPECT_EQ(ForeignProcesses({0, {{10, much}, {11, much}}}, all, 10), 0) << "we and our child";
  EXPECT_EQ(ForeignProcesses({0, {{11, much}, {20, much}}}, all, 10), 1);
  EXPECT_EQ(ForeignProcesses({0, {{20, much - 1}}}, all, 10), 0) << "a monitor's context";
  EXPECT_EQ(ForeignProcesses({0, {{99, much}}}, all, 10), 0) << "a number of another namespace";
}

}  // namespace
}  // namespace dynbench::worker
