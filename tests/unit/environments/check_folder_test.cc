// Method: a small environment is scanned into a manifest, then changed in each way that a person,
// pip or a kill would.
#include "worker/environments/check_folder.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kSite[] = "/lib/python3.11/site-packages/torch";

class CheckFolderTest : public testing::Test {
 protected:
  CheckFolderTest() {
    fs::create_directories(site_ + "/lib");
    fs::create_directories(folder_ + "/bin");
    WriteText(site_ + "/compiler.py", "FAST = 1\n");
    WriteText(site_ + "/empty.py", "");
    WriteText(site_ + "/data.bin", "data");
    WriteText(site_ + "/lib/libtorch.so", "library");
    WriteText(folder_ + "/bin/tool", "#!/here/bin/python\n");
    fs::create_symlink("/usr/bin/python3", folder_ + "/bin/python");
    fs::create_symlink("libtorch.so", site_ + "/lib/libtorch.so.1");
    auto manifest = ScanFolder(folder_);
    EXPECT_TRUE(manifest.ok()) << manifest.status();
    manifest_ = *std::move(manifest);
    for (const ManifestFile& file : manifest_.files) {
      EXPECT_TRUE(store_.Adopt(folder_ + "/" + file.path, file, true).ok()) << file.path;
    }
  }
  std::string Differs() const {
    return std::string(CheckFolder(manifest_, folder_, store_).message());
  }
  // As pip and people do: another file under the name.
  void Replace(const std::string& path, const std::string& text) {
    fs::remove(path);
    WriteText(path, text);
  }

  const ScratchDir dir_;
  const std::string folder_ = dir_ / "env", site_ = folder_ + kSite;
  const ObjectStore store_{dir_.path()};
  Manifest manifest_;
};

TEST_F(CheckFolderTest, WhatMayDifferIsTheSame) {
  fs::create_directories(site_ + "/__pycache__");
  WriteText(site_ + "/__pycache__/compiler.cpython-311.pyc", "compiled");
  Replace(folder_ + "/bin/tool", "#!/there/bin/python\n");
  fs::remove(folder_ + "/bin/python");
  fs::create_symlink("/opt/python3", folder_ + "/bin/python");
  WriteText(site_ + "/cache.bin", "written by a package");
  EXPECT_EQ(Differs(), "");
}

TEST_F(CheckFolderTest, AnotherFileIsNamedAndItsObjectStays) {
  Replace(site_ + "/data.bin", "DATA");
  EXPECT_TRUE(absl::StrContains(Differs(), "torch/data.bin is another file")) << Differs();
  EXPECT_TRUE(store_.Has(Sha256Hex("data")));
}

TEST_F(CheckFolderTest, AFileThatWasWrittenIntoTakesItsObjectWithIt) {
  fs::permissions(site_ + "/compiler.py", fs::perms::owner_write, fs::perm_options::add);
  WriteText(site_ + "/compiler.py", "FAST = 2\n");
  EXPECT_TRUE(absl::StrContains(Differs(), "torch/compiler.py is another file")) << Differs();
  EXPECT_FALSE(store_.Has(Sha256Hex("FAST = 1\n")));
}

TEST_F(CheckFolderTest, WhatIsGoneOrCameIsNamed) {
  WriteText(site_ + "/new.py", "NEW = 1\n");
  EXPECT_TRUE(absl::StrContains(Differs(), "torch/new.py came afterwards")) << Differs();
  fs::remove(site_ + "/new.py");
  fs::remove(site_ + "/lib/libtorch.so.1");
  EXPECT_TRUE(absl::StrContains(Differs(), "libtorch.so.1 is gone")) << Differs();
  fs::remove_all(site_);
  EXPECT_TRUE(absl::StrContains(Differs(), "is gone")) << Differs();
}

TEST_F(CheckFolderTest, CodeWithOtherContentIsDataLossAndItsObjectsGo) {
  EXPECT_TRUE(CheckCode(manifest_, folder_, store_).ok());
  for (const char* path : {"/lib/libtorch.so", "/compiler.py"}) {
    const std::string before = ReadText(site_ + path);
    fs::permissions(site_ + path, fs::perms::owner_write, fs::perm_options::add);
    WriteText(site_ + path, std::string(before.size(), '\0'));
    const absl::Status damaged = CheckCode(manifest_, folder_, store_);
    EXPECT_TRUE(absl::IsDataLoss(damaged)) << damaged;
    EXPECT_TRUE(absl::StrContains(damaged.message(), path)) << damaged;
    EXPECT_FALSE(store_.Has(Sha256Hex(before)));
    Replace(site_ + path, before);
  }
}

}  // namespace
}  // namespace dynbench::worker
