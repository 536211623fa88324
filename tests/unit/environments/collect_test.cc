// Method: folders as a killed process and a removed environment leave them.
#include "worker/environments/collect.h"

#include <filesystem>

#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/environments/manifest.h"
#include "worker/environments/object_store.h"
#include "worker/environments/places.h"
#include "worker/host/environment.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

TEST(Collect, OnlyWhatIsNobodysGoes) {
  const ScratchDir dir;
  Environment kept, by_hand;
  kept.name = "kept";
  kept.id = std::string(64, 'a');
  by_hand.name = "by-hand";
  ASSERT_TRUE(SaveEnvironment(dir.path(), kept).ok());
  ASSERT_TRUE(SaveEnvironment(dir.path(), by_hand).ok());
  const std::string gone = std::string(64, 'b');
  fs::create_directories(FolderOfEnvironment(dir.path(), kept.id));
  fs::create_directories(FolderOfEnvironment(dir.path(), gone));
  fs::create_directories(UnfinishedFolder(dir.path(), gone));
  // What it names in its own words was written anew here: only the store has what others need.
  Manifest manifest;
  manifest.id = kept.id;
  manifest.files = {{"bin/tool", true, 6, Sha256Hex("script")}};
  ASSERT_TRUE(SaveManifest(dir.path(), manifest).ok());
  const ObjectStore store(dir.path());
  ASSERT_TRUE(store.folder().Put(Sha256Hex("script"), "script").ok());
  ASSERT_TRUE(store.folder().Put(Sha256Hex("nobodys"), "nobodys").ok());
  fs::create_directories(dir / "runners");
  fs::create_directories(dir / "somebodys");
  auto collected = CollectEnvironments(dir.path(), /*dry_run=*/false);
  ASSERT_TRUE(collected.ok()) << collected.status();
  EXPECT_EQ(collected->folders.size(), 2u);
  for (const char* name : {"runners", "somebodys", "kept.json", "by-hand.json"}) {
    EXPECT_TRUE(fs::exists(dir / name)) << name;
  }
  EXPECT_TRUE(fs::exists(FolderOfEnvironment(dir.path(), kept.id)));
  EXPECT_TRUE(store.Has(Sha256Hex("script")));
  EXPECT_FALSE(store.Has(Sha256Hex("nobodys")));
  EXPECT_FALSE(fs::exists(UnfinishedFolder(dir.path(), gone)));

  ASSERT_TRUE(ForgetMade(dir.path(), kept.id).ok());
  EXPECT_FALSE(fs::exists(dir / "kept.json"));
  EXPECT_TRUE(fs::exists(dir / "by-hand.json"));

  // Beside a record that cannot be read nothing is removed.
  WriteText(dir / "broken.json", "{");
  EXPECT_EQ(CollectEnvironments(dir.path(), false).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace dynbench::worker
