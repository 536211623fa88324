// Method: a folder laid out as a host's proc and sys are, changed and put back by the real code; a
// process that kills itself after each number of writes, whose successor must find the host as it
// was. GPU clocks go to a recorder, and to the real library where there is none.
#include "worker/host/tuning.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kPolicies[] = "sys/devices/system/cpu/cpufreq/";
constexpr char kBoost[] = "sys/devices/system/cpu/cpufreq/boost";
constexpr char kNoTurbo[] = "sys/devices/system/cpu/intel_pstate/no_turbo";
constexpr char kBalancing[] = "proc/sys/kernel/numa_balancing";
constexpr char kHugePages[] = "sys/kernel/mm/transparent_hugepage/enabled";

class RecordedClocks : public GpuClocks {
 public:
  absl::StatusOr<int> MaxMhz(const std::string&) override { return 1'980; }
  absl::Status Lock(const std::string& uuid, int low, int high) override {
    locked[uuid] = {low, high};
    return absl::OkStatus();
  }
  absl::Status Reset(const std::string& uuid) override {
    ++resets;
    locked.erase(uuid);
    return absl::OkStatus();
  }

  std::map<std::string, std::pair<int, int>> locked;
  int resets = 0;
};

// Dies by SIGKILL instead of the write with this number.
class DyingKnobs : public HostKnobs {
 public:
  DyingKnobs(int writes, const std::string& root, GpuClocks* clocks)
      : HostKnobs(root, {0, 1, 2, 3}, {"GPU-1"}, clocks), left_(writes) {}
  absl::Status Write(const std::string& place, const std::string& value) override {
    if (left_-- == 0) raise(SIGKILL);
    return HostKnobs::Write(place, value);
  }

 private:
  int left_;
};

class TuningTest : public testing::Test {
 protected:
  TuningTest() {
    for (const char* policy : {"policy0", "policy2"}) {
      Write(std::string(kPolicies) + policy + "/scaling_governor", "powersave");
    }
    Write(std::string(kPolicies) + "policy0/related_cpus", "0 1");
    Write(std::string(kPolicies) + "policy2/related_cpus", "2 3");
    Write(kBoost, "1");
    Write(kBalancing, "1");
    Write(kHugePages, "always [madvise] never");
  }
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << "\n";
  }
  std::string Read(const std::string& path) {
    std::ifstream in(root_ / path);
    std::string line;
    std::getline(in, line);
    return line;
  }
  std::string Governor(const std::string& policy) {
    return Read(kPolicies + policy + "/scaling_governor");
  }
  HostKnobs KnobsOf(std::vector<int> cpus = {0, 1, 2, 3}) {
    return HostKnobs(root_.path(), std::move(cpus), {"GPU-1"}, &clocks_);
  }
  std::vector<TuneWish> Wishes(const std::string& text) {
    const auto wishes = ParseTuning(text);
    EXPECT_TRUE(wishes.ok()) << wishes.status();
    return wishes.ok() ? *wishes : std::vector<TuneWish>();
  }
  std::map<std::string, std::string> Snapshot() {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_.path())) {
      if (entry.is_regular_file()) {
        std::ifstream in(entry.path());
        all[entry.path()] = {std::istreambuf_iterator<char>(in), {}};
      }
    }
    return all;
  }

  ScratchDir root_, state_;
  RecordedClocks clocks_;
  const std::string journal_ = state_ / "tuning.json";
};

TEST(ParseTuning, TellsWhatIsWrong) {
  const auto wishes = ParseTuning("governor=performance, turbo=off,gpu-clocks=1200-1410");
  ASSERT_TRUE(wishes.ok()) << wishes.status();
  EXPECT_THAT(*wishes, ElementsAre(TuneWish{"governor", "performance"}, TuneWish{"turbo", "off"},
                                   TuneWish{"gpu-clocks", "1200-1410"}));
  EXPECT_EQ(ToText(*wishes), "governor=performance,gpu-clocks=1200-1410,turbo=off");
  struct Case {
    const char* text;
    const char* says;
  };
  for (const Case& c : {Case{"governer=performance", "one of the keys governor, turbo"},
                        {"turbo", "no KEY=VALUE"},
                        {"", "no KEY=VALUE"},
                        {"turbo=maybe", "turbo wants off or on"},
                        {"governor=../../x", "governor wants the name"},
                        {"gpu-clocks=0", "MHz such as 1410"},
                        {"gpu-clocks=1410-1200", "MHz such as 1410"},
                        {"huge-pages=some", "always, madvise or never"},
                        {"turbo=off,turbo=on", "turbo is given twice"}}) {
    const auto parsed = ParseTuning(c.text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(c.says)) << c.text;
  }
}

TEST_F(TuningTest, SetsEverythingAndPutsItBackAtTheEnd) {
  const auto before = Snapshot();
  HostKnobs knobs = KnobsOf();
  {
    Tuning tuning(&knobs, journal_, "boot");
    ASSERT_TRUE(tuning
                    .Apply(Wishes("governor=performance,turbo=off,numa-balancing=off,"
                                  "huge-pages=never,gpu-clocks=max"))
                    .ok());
    EXPECT_EQ(Governor("policy0"), "performance");
    EXPECT_EQ(Governor("policy2"), "performance");
    EXPECT_EQ(Read(kBoost), "0");
    EXPECT_EQ(Read(kBalancing), "0");
    EXPECT_EQ(Read(kHugePages), "never");
    EXPECT_EQ(clocks_.locked.at("GPU-1"), std::pair(1'980, 1'980));
    EXPECT_TRUE(Tuning::LeftSomething(journal_));
  }
  EXPECT_TRUE(clocks_.locked.empty());
  EXPECT_FALSE(Tuning::LeftSomething(journal_));
  // The kernel's file says the chosen word in brackets; ours says it alone.
  auto after = Snapshot();
  EXPECT_EQ(Read(kHugePages), "madvise");
  after[root_ / kHugePages] = before.at(root_ / kHugePages);
  EXPECT_EQ(after, before);
}

TEST_F(TuningTest, OnlyTheGovernorsOfItsOwnCores) {
  HostKnobs knobs = KnobsOf({3});
  Tuning tuning(&knobs, journal_, "boot");
  ASSERT_TRUE(tuning.Apply(Wishes("governor=performance")).ok());
  EXPECT_EQ(Governor("policy0"), "powersave");
  EXPECT_EQ(Governor("policy2"), "performance");
}

TEST_F(TuningTest, IntelsSwitchIsTheOtherWayRound) {
  std::filesystem::remove(root_ / kBoost);
  Write(kNoTurbo, "0");
  HostKnobs knobs = KnobsOf();
  {
    Tuning tuning(&knobs, journal_, "boot");
    ASSERT_TRUE(tuning.Apply(Wishes("turbo=off")).ok());
    EXPECT_EQ(Read(kNoTurbo), "1");
  }
  EXPECT_EQ(Read(kNoTurbo), "0");
}

TEST_F(TuningTest, WhateverAKilledProcessHadChangedItsSuccessorPutsBack) {
  const std::string wanted = "governor=performance,turbo=off,numa-balancing=off";
  const auto before = Snapshot();
  for (int writes = 0; writes <= 4; ++writes) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      DyingKnobs knobs(writes, root_.path(), &clocks_);
      Tuning tuning(&knobs, journal_, "boot");
      (void)tuning.Apply(*ParseTuning(wanted));
      raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(Tuning::LeftSomething(journal_)) << writes << ": written before the first change";
    if (writes == 4) {
      EXPECT_EQ(Read(kBoost), "0");
    }
    HostKnobs knobs = KnobsOf();
    Tuning successor(&knobs, journal_, "boot");
    EXPECT_TRUE(successor.Undo().ok());
    EXPECT_EQ(Snapshot(), before) << writes;
    EXPECT_TRUE(successor.Undo().ok()) << "twice is as once";
    EXPECT_EQ(Snapshot(), before) << writes;
  }
}

// What a process left behind that was killed when all was set.
#define LEAVE_TUNED(wanted)                       \
  do {                                            \
    const pid_t child = fork();                   \
    ASSERT_GE(child, 0);                          \
    if (child == 0) {                             \
      HostKnobs knobs = KnobsOf();                \
      Tuning tuning(&knobs, journal_, "boot");    \
      (void)tuning.Apply(*ParseTuning(wanted));   \
      raise(SIGKILL);                             \
    }                                             \
    ASSERT_EQ(waitpid(child, nullptr, 0), child); \
  } while (false)

TEST_F(TuningTest, WhatSomebodyElseHasSetSinceIsLeft) {
  LEAVE_TUNED("governor=performance,turbo=off");
  Write(std::string(kPolicies) + "policy2/scaling_governor", "schedutil");
  HostKnobs knobs = KnobsOf();
  EXPECT_TRUE(Tuning(&knobs, journal_, "boot").Undo().ok());
  EXPECT_EQ(Governor("policy0"), "powersave");
  EXPECT_EQ(Governor("policy2"), "schedutil");
  EXPECT_EQ(Read(kBoost), "1");
}

TEST_F(TuningTest, ABootUndoesItAll) {
  LEAVE_TUNED("turbo=off,gpu-clocks=1410");
  Write(kBoost, "0");  // somebody's rule of this boot
  HostKnobs knobs = KnobsOf();
  EXPECT_TRUE(Tuning(&knobs, journal_, "another boot").Undo().ok());
  EXPECT_EQ(Read(kBoost), "0");
  EXPECT_EQ(clocks_.resets, 0);
  EXPECT_FALSE(Tuning::LeftSomething(journal_));
}

TEST_F(TuningTest, AGpusLockCannotBeReadAndIsResetWhateverItIs) {
  LEAVE_TUNED("gpu-clocks=1200-1410");
  HostKnobs knobs = KnobsOf();
  EXPECT_TRUE(Tuning(&knobs, journal_, "boot").Undo().ok());
  EXPECT_EQ(clocks_.resets, 1);
}

TEST_F(TuningTest, WhatIsSoAlreadyIsNotTouchedNowOrLater) {
  Write(kBoost, "0");
  HostKnobs knobs = KnobsOf();
  {
    Tuning tuning(&knobs, journal_, "boot");
    ASSERT_TRUE(tuning.Apply(Wishes("turbo=off")).ok());
    EXPECT_FALSE(Tuning::LeftSomething(journal_));
  }
  EXPECT_EQ(Read(kBoost), "0");
}

TEST_F(TuningTest, AllOrNothing) {
  // Opens, even for root, and refuses to be written.
  std::filesystem::remove(root_ / kBoost);
  std::filesystem::create_symlink("/proc/version", root_ / kBoost);
  HostKnobs knobs = KnobsOf();
  Tuning tuning(&knobs, journal_, "boot");
  const absl::Status status = tuning.Apply(Wishes("governor=performance,turbo=off"));
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("boost"));
  EXPECT_EQ(Governor("policy0"), "powersave");
  EXPECT_FALSE(Tuning::LeftSomething(journal_));
}

TEST_F(TuningTest, WhoMayNotIsToldSo) {
  const std::string file = root_ / kBoost;
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  HostKnobs knobs = KnobsOf();
  // Root may write everything, so it is somebody else for a moment.
  const bool root = geteuid() == 0;
  if (root) {
    for (const char* folder : {"", "/sys", "/sys/devices", "/sys/devices/system"}) {
      std::filesystem::permissions(root_.path() + folder, std::filesystem::perms(0755));
    }
    ASSERT_EQ(seteuid(65'534), 0);
  }
  const absl::Status status = knobs.Write("turbo", "off");
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("leave it out of --tune"));
}

TEST_F(TuningTest, AHostWithoutTheSettingIsToldSo) {
  const ScratchDir bare;
  HostKnobs knobs(bare.path(), {0}, {}, &clocks_);
  for (const char* knob : {"governor", "turbo", "numa-balancing", "huge-pages", "gpu-clocks"}) {
    const auto places = knobs.Places(knob);
    EXPECT_EQ(places.status().code(), absl::StatusCode::kFailedPrecondition) << knob;
    EXPECT_THAT(std::string(places.status().message()), HasSubstr("leave it out of --tune"));
  }
}

TEST_F(TuningTest, AJournalNamesNoOtherFiles) {
  const std::string outside = state_ / "outside";
  std::ofstream(outside) << "kept\n";
  std::ofstream(journal_) << R"({"schema":"dynbench.tuning/1","boot":"boot","changes":[)"
                          << R"({"place":"governor/../../../outside","before":"x","set":"kept"}]})";
  HostKnobs knobs = KnobsOf();
  {
    Tuning tuning(&knobs, journal_, "boot");
    EXPECT_FALSE(tuning.Undo().ok());
    EXPECT_TRUE(Tuning::LeftSomething(journal_)) << "what failed is tried again";
  }
  std::ofstream(journal_) << "not ours";
  Tuning tuning(&knobs, journal_, "boot");
  EXPECT_THAT(std::string(tuning.Undo().message()), HasSubstr("remove the file"));
  std::filesystem::remove(journal_);
}

TEST(NvmlClocks, AbsentIsAClearStatus) {
  const auto clocks = MakeNvmlClocks();
  const absl::Status status = clocks->Lock("GPU-of-nobody", 1'000, 1'000);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("NVML"));
}

}  // namespace
}  // namespace dynbench::worker
