#include "common/store/file_system.h"

#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#include "common/base/status.h"

namespace dynbench::store {
namespace {

struct Refused {
  uint32_t type;
  const char* name;
};

// Magic numbers of statfs(2) and linux/magic.h; only the low 32 bits are the magic.
constexpr Refused kRefused[] = {
    {0x6969, "NFS"},
    {0x517B, "SMB"},
    {0xFE534D42, "SMB2"},
    {0xFF534D42, "CIFS"},
    {0x01021997, "9p"},
    {0x65735546, "FUSE (sshfs, virtiofs, s3fs, …)"},
    {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},
    {0x73757245, "Coda"},
    {0x564C, "NCP"},
    {0x00C36400, "Ceph"},
    {0x0BD00BD0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},
    {0x20030528, "OrangeFS"},
    {0x01161970, "GFS2"},
    {0x7461636F, "OCFS2"},
    {0xAAD7AAEA, "PanFS"},
    {0x786F4256, "VirtualBox shared folder"},
    {0xBACBACBC, "VMware shared folder"},
};

}  // namespace

absl::Status CheckFileSystemType(int64_t type, const std::string& path) {
  for (const Refused& refused : kRefused) {
    if (static_cast<uint32_t>(type) != refused.type) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is on a network or user-space file system (", refused.name,
        "), where a database can be damaged by two hosts; give a folder on a local disk with "
        "--state-dir or DYNBENCH_STATE_DIR"));
  }
  return absl::OkStatus();
}

absl::Status CheckFileSystem(const std::string& folder) {
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot look at the folder ", folder));
  }
  return CheckFileSystemType(static_cast<int64_t>(facts.f_type), folder);
}

}  // namespace dynbench::store
