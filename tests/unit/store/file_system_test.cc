// Method: the type is an argument, so no mount is needed; the numbers are those of statfs(2).
#include "common/store/file_system.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;

TEST(FileSystem, NetworkFileSystemsAreRefusedByNameWithTheWayOut) {
  const std::pair<int64_t, const char*> refused[] = {
      {0x6969, "NFS"},    {0x517B, "SMB"},          {0xFF534D42, "CIFS"},  {0xFE534D42, "SMB2"},
      {0x01021997, "9p"}, {0x65735546, "virtiofs"}, {0x0BD00BD0, "Lustre"}};
  for (const auto& [type, name] : refused) {
    const absl::Status status = CheckFileSystemType(type, "/data");
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
    EXPECT_THAT(std::string(status.message()), HasSubstr("--state-dir"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("/data"));
  }
}

TEST(FileSystem, ASignExtendedTypeIsTheSameType) {
  // f_type is a signed word on some platforms.
  EXPECT_FALSE(CheckFileSystemType(static_cast<int32_t>(0xFF534D42), "/data").ok());
}

TEST(FileSystem, LocalOnesAreFine) {
  for (const int64_t type : {0xEF53L, 0x58465342L, 0x9123683EL, 0x01021994L, 0x794c7630L}) {
    EXPECT_TRUE(CheckFileSystemType(type, "/data").ok()) << type;
  }
}

TEST(FileSystem, AMissingFolderIsAnErrorThatNamesIt) {
  const absl::Status status = CheckFileSystem("/no/such/folder");
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace dynbench::store
