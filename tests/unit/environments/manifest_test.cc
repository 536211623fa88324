// Method: a small folder with every kind of entry is scanned, written and read again; manifests
// with paths that leave their folder must be refused.
#include "worker/environments/manifest.h"

#include <sys/stat.h>

#include <filesystem>

#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

TEST(Manifest, HoldsEverythingButCompiledPython) {
  const ScratchDir dir;
  fs::create_directories(dir / "env/lib/__pycache__");
  fs::create_directories(dir / "env/bin");
  WriteText(dir / "env/lib/a.py", "a = 1\n");
  WriteText(dir / "env/lib/__pycache__/a.pyc", "compiled");
  WriteText(dir / "env/bin/tool", "#!/bin/sh\n");
  chmod((dir / "env/bin/tool").c_str(), 0755);
  fs::create_symlink("/usr/bin/python3", dir / "env/bin/python");
  fs::create_directory_symlink("lib", dir / "env/lib64");
  auto manifest = ScanFolder(dir / "env", {{"lib/a.py", Sha256Hex("known")}});
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  manifest->id = "id";
  manifest->platform.python_version = "3.11.7";
  EXPECT_EQ(manifest->folders, (std::vector<std::string>{"bin", "lib"}));
  ASSERT_EQ(manifest->files.size(), 2u);
  EXPECT_EQ(manifest->files[0].path, "bin/tool");
  EXPECT_TRUE(manifest->files[0].executable);
  EXPECT_EQ(manifest->files[0].sha256, Sha256Hex("#!/bin/sh\n"));
  EXPECT_EQ(manifest->files[1].sha256, Sha256Hex("known"));
  EXPECT_EQ(manifest->links.at("lib64"), "lib");
  EXPECT_EQ(manifest->TotalBytes(), 16);
  const auto again = ManifestFromJson(ToJson(*manifest));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ToJson(*again), ToJson(*manifest));
}

TEST(Manifest, PathsThatLeaveTheFolderAreRefused) {
  for (const char* path : {"../up", "/etc/passwd", "a//b", "a/./b", ""}) {
    Manifest manifest;
    manifest.links[path] = "x";
    EXPECT_FALSE(ManifestFromJson(ToJson(manifest)).ok()) << path;
  }
  Manifest twice;
  twice.folders = {"a"};
  twice.links["a"] = "/etc";
  EXPECT_FALSE(ManifestFromJson(ToJson(twice)).ok());
  Manifest no_digest;
  no_digest.files.push_back({"a", false, 1, "../../x"});
  EXPECT_FALSE(ManifestFromJson(ToJson(no_digest)).ok());
  EXPECT_FALSE(ManifestFromJson("{}").ok());
}

TEST(Manifest, AnotherPlatformIsSaidToBeAnother) {
  Platform here = ThisPlatform();
  EXPECT_TRUE(CheckFits(here).ok());
  here.libc = "glibc 1.0";
  EXPECT_NE(CheckFits(here).message().find("glibc 1.0"), std::string_view::npos);
}

}  // namespace
}  // namespace dynbench::worker
