// Method: folders as a killed process and a removed environment leave them; a removal that is
// killed in the middle; a second process that receives.
#include "worker/environments/collect.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

TEST(Collect, WhatIsBeingReceivedStays) {
  const ScratchDir dir;
  const std::string coming = std::string(64, 'c'), gone = std::string(64, 'b');
  const ObjectStore store(dir.path());
  Manifest manifest;
  manifest.id = coming;
  auto receiver = KeepReceived(dir.path());
  ASSERT_TRUE(receiver.ok()) << receiver.status();
  ASSERT_TRUE(KeepReceived(dir.path()).ok()) << "two workers receive at a time";
  ASSERT_TRUE(SaveManifest(dir.path(), manifest).ok());
  ASSERT_TRUE(store.folder().Put(Sha256Hex("received"), "received").ok());
  auto writer = ObjectWriter::Begin(store.folder(), Sha256Hex("coming"));
  ASSERT_TRUE(writer.ok() && (*writer)->Add("com").ok());
  fs::create_directories(FolderOfEnvironment(dir.path(), gone));

  auto collected = CollectEnvironments(dir.path(), /*dry_run=*/false);
  ASSERT_TRUE(collected.ok()) << collected.status();
  EXPECT_TRUE(collected->receiving);
  EXPECT_FALSE(fs::exists(FolderOfEnvironment(dir.path(), gone)));
  EXPECT_TRUE(store.Has(Sha256Hex("received")));
  EXPECT_TRUE(LoadManifest(dir.path(), coming).ok());
  ASSERT_TRUE((*writer)->Add("ing").ok());
  EXPECT_TRUE((*writer)->Finish().ok());

  receiver->reset();
  collected = CollectEnvironments(dir.path(), /*dry_run=*/false);
  ASSERT_TRUE(collected.ok()) << collected.status();
  EXPECT_FALSE(collected->receiving);
  EXPECT_EQ(collected->objects, 2);
  EXPECT_FALSE(LoadManifest(dir.path(), coming).ok());
}

TEST(Collect, ARemovalThatIsKilledLeavesNoEnvironment) {
  const ScratchDir dir;
  const std::string id(64, 'b');
  const fs::path folder = FolderOfEnvironment(dir.path(), id);
  constexpr int kFiles = 5'000;
  fs::create_directories(folder);
  for (int i = 0; i < kFiles; ++i) WriteText((folder / std::to_string(i)).string(), "x");
  const pid_t child = fork();
  if (child == 0) {
    CollectEnvironments(dir.path(), /*dry_run=*/false).IgnoreError();
    _exit(0);
  }
  const auto begun = [&] {
    std::error_code error;
    const auto left = std::distance(fs::directory_iterator(folder, error), {});
    return error || left < kFiles;
  };
  // Ends with the child at the latest: there is nothing left then.
  while (!begun()) {
  }
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(fs::exists(folder)) << "half of it";
  ASSERT_TRUE(CollectEnvironments(dir.path(), /*dry_run=*/false).ok());
  const bool left = std::any_of(
      fs::directory_iterator(dir.path()), fs::directory_iterator(),
      [](const auto& entry) { return entry.path().filename().string().rfind(".making-", 0) == 0; });
  EXPECT_FALSE(left);
}

}  // namespace
}  // namespace dynbench::worker
