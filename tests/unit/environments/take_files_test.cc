// Method: an environment of a few files, some of them those of a manifest, on this and on another
// file system.
#include "worker/environments/take_files.h"

#include <filesystem>

#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/environments/cut_off_testing.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

Environment At(const std::string& prefix) {
  Environment environment;
  environment.name = "default";
  environment.facts.python = prefix + "/bin/python";
  return environment;
}

Manifest Listing(const std::map<std::string, std::string>& files) {
  Manifest manifest;
  for (const auto& [path, text] : files) {
    manifest.files.push_back({path, false, static_cast<int64_t>(text.size()), Sha256Hex(text)});
  }
  return manifest;
}

TEST(TakeFiles, OnlyTheSameFilesAreTaken) {
  const ScratchDir dir, theirs;
  const ObjectStore store(dir.path());
  const std::atomic<bool> stopping{false};
  WriteText(theirs / "same", "same");
  WriteText(theirs / "other", "othEr");
  const auto taken = TakeFiles(Listing({{"gone", "gone"}, {"other", "other"}, {"same", "same"}}),
                               At(theirs.path()), store, stopping);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(*taken, 1);
  EXPECT_TRUE(store.Has(Sha256Hex("same")));
  EXPECT_FALSE(store.Has(Sha256Hex("other")));
}

TEST(TakeFiles, OnAFullDiskNothingIsTakenAndItIsSaid) {
  const OtherFileSystem theirs;
  if (theirs.path().empty()) GTEST_SKIP() << "no second file system";
  const ScratchDir dir;
  const ObjectStore store(dir.path());
  const std::atomic<bool> stopping{false};
  const std::string large(size_t{4} << 20, 'x');
  WriteText(theirs.path() + "/a", large);
  WriteText(theirs.path() + "/b", "small");
  const Manifest manifest = Listing({{"a", large}, {"b", "small"}});
  const int status = InChildWithFileLimit(SIG_IGN, [&] {
    return absl::IsResourceExhausted(
               TakeFiles(manifest, At(theirs.path()), store, stopping).status())
               ? 0
               : 1;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  for (const ManifestFile& file : manifest.files) EXPECT_FALSE(store.Has(file.sha256)) << file.path;
}

}  // namespace
}  // namespace dynbench::worker
