// Method: folders are filled as a compiler would fill them and looked at from the other side.
#include "worker/agent/caches.h"

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

class CachesTest : public testing::Test {
 protected:
  // A filled cold cache of `bytes`, at `name`.
  std::string Filled(const std::string& name, size_t bytes) {
    std::string path = dir_ / name;
    EXPECT_TRUE(Caches::MakeCold(path).ok());
    fs::create_directories(path + "/fxgraph/ab");
    WriteText(path + "/fxgraph/ab/code", std::string(bytes, 'c'));
    return path;
  }
  ScratchDir dir_;
  Caches caches_{dir_ / "store", dir_ / "shared", 10'000};
};

TEST_F(CachesTest, ColdIsNewEmptyAndPrivate) {
  const std::string path = dir_ / "cold";
  ASSERT_TRUE(Caches::MakeCold(path).ok());
  EXPECT_TRUE(fs::is_empty(path));
  EXPECT_EQ(Mode(path), 0700);
  EXPECT_EQ(Caches::MakeCold(path).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(CachesTest, WarmIsACopyThatSharesNothingWithTheStore) {
  EXPECT_FALSE(caches_.Has("k"));
  EXPECT_FALSE(caches_.CopyTo("k", dir_ / "warm0").ok());
  caches_.Adopt(Filled("cold", 100), "k");
  ASSERT_TRUE(caches_.Has("k"));
  EXPECT_FALSE(fs::exists(dir_ / "cold")) << "moved, not copied";
  ASSERT_TRUE(caches_.CopyTo("k", dir_ / "warm1").ok());
  EXPECT_EQ(Mode(dir_ / "warm1"), 0700);
  WriteText(dir_ / "warm1/fxgraph/ab/code", "changed by a child");
  ASSERT_TRUE(caches_.CopyTo("k", dir_ / "warm2").ok());
  EXPECT_EQ(ReadText(dir_ / "warm2/fxgraph/ab/code"), std::string(100, 'c'));
}

TEST_F(CachesTest, AnEmptyFolderIsNoPreparation) {
  ASSERT_TRUE(Caches::MakeCold(dir_ / "cold").ok());
  caches_.Adopt(dir_ / "cold", "k");
  EXPECT_FALSE(caches_.Has("k"));
}

TEST_F(CachesTest, BeyondTheCapTheOneUsedLongestAgoGoes) {
  caches_.Adopt(Filled("a", 4'000), "ka");
  caches_.Adopt(Filled("b", 4'000), "kb");
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  fs::last_write_time(dir_ / "store/ka", old);
  fs::last_write_time(dir_ / "store/kb", old - std::chrono::hours(1));
  ASSERT_TRUE(caches_.CopyTo("kb", dir_ / "use").ok());  // used just now
  caches_.Adopt(Filled("c", 4'000), "kc");
  EXPECT_FALSE(caches_.Has("ka"));
  EXPECT_TRUE(caches_.Has("kb"));
  EXPECT_TRUE(caches_.Has("kc"));
}

TEST_F(CachesTest, SharedIsOneFolderForAJobAndASlot) {
  const auto one = caches_.Shared(JobId(1), 0);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(*one, *caches_.Shared(JobId(1), 0));
  EXPECT_NE(*one, *caches_.Shared(JobId(2), 0));
  const auto other_slot = caches_.Shared(JobId(1), 1);
  caches_.DropShared(0, {JobId(2), JobId(3)});
  EXPECT_FALSE(fs::exists(*one));
  EXPECT_TRUE(fs::exists(*other_slot)) << "cleaning never touches another slot";
}

TEST_F(CachesTest, OneThatWasMissedIsPreparedAnewAndACopyStays) {
  caches_.Adopt(Filled("cold", 100), "k");
  ASSERT_TRUE(caches_.CopyTo("k", dir_ / "warm").ok());
  caches_.Discard("k");
  EXPECT_FALSE(caches_.Has("k"));
  EXPECT_TRUE(fs::is_empty(dir_ / "store"));
  EXPECT_TRUE(fs::exists(dir_ / "warm/fxgraph/ab/code")) << "a running attempt's own";
  caches_.Adopt(Filled("new", 50), "k");
  ASSERT_TRUE(caches_.CopyTo("k", dir_ / "warm2").ok());
  EXPECT_EQ(ReadText(dir_ / "warm2/fxgraph/ab/code"), std::string(50, 'c'));
  caches_.Discard("never there");
}

TEST_F(CachesTest, TheKeyIsOfTheSeriesAndTheHostNotOfTheStart) {
  plan::Experiment experiment;
  experiment.model = "resnet50";
  Environment environment;
  environment.hash = std::string(64, 'a');
  environment.runner_dir = "/e/runners/one-compiler";
  plan::LaunchProfile profile;
  profile.environment["KMP_BLOCKTIME"] = "1";
  const std::string key = Caches::Key(experiment, environment, profile, 2);
  EXPECT_EQ(key.find_first_of("./"), std::string::npos) << key << " is the name of a folder";

  const auto with_environment = [&](auto change) {
    Environment other = environment;
    change(other);
    return Caches::Key(experiment, other, profile, 2);
  };
  EXPECT_NE(with_environment([](Environment& e) { e.hash = std::string(64, 'b'); }), key);
  EXPECT_NE(with_environment([](Environment& e) { e.runner_dir = "/e/runners/other"; }), key);
  EXPECT_EQ(with_environment([](Environment& e) { e.runner_dir = "/f/runners/one-compiler"; }),
            key);
  const auto with_profile = [&](auto change) {
    plan::LaunchProfile other = profile;
    change(other);
    return Caches::Key(experiment, environment, other, 2);
  };
  EXPECT_NE(with_profile([](plan::LaunchProfile& p) { p.environment["KMP_BLOCKTIME"] = "2"; }),
            key);
  EXPECT_NE(with_profile([](plan::LaunchProfile& p) { p.preload = {"libjemalloc.so.2"}; }), key);
  EXPECT_NE(with_profile([](plan::LaunchProfile& p) { p.numa = "local"; }), key);
  EXPECT_EQ(with_profile([](plan::LaunchProfile& p) { p.description = "for people"; }), key);

  EXPECT_NE(Caches::Key(experiment, environment, profile, 4), key);
  experiment.start = plan::Start::kWarm;
  EXPECT_EQ(Caches::Key(experiment, environment, profile, 2), key);
  experiment.options.freezing = true;
  EXPECT_NE(Caches::Key(experiment, environment, profile, 2), key);
}

}  // namespace
}  // namespace dynbench::worker
