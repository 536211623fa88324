#include "worker/environments/places.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

constexpr size_t kFolderDigits = 32;

absl::StatusOr<UniqueFd> OpenLock(const std::string& environments_dir, const char* name) {
  RETURN_IF_ERROR(MakePrivateFolder(environments_dir));
  const std::string path = absl::StrCat(environments_dir, "/", name);
  UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return FileError(path);
  return lock;
}

absl::Status Wait(const UniqueFd& lock, int how, const std::string& environments_dir) {
  while (flock(lock.get(), how) != 0) {
    if (errno != EINTR) return FileError(environments_dir);
  }
  return absl::OkStatus();
}

}  // namespace

std::string FolderOfEnvironment(const std::string& environments_dir, const std::string& id) {
  CHECK(IsSha256Hex(id));
  return absl::StrCat(environments_dir, "/", id.substr(0, kFolderDigits));
}

std::string UnfinishedFolder(const std::string& environments_dir, const std::string& id) {
  CHECK(IsSha256Hex(id));
  return absl::StrCat(environments_dir, "/.making-", id.substr(0, kFolderDigits));
}

std::string ManifestPath(const std::string& environments_dir, const std::string& id) {
  CHECK(IsSha256Hex(id));
  return absl::StrCat(environments_dir, "/manifests/", id, ".json");
}

absl::Status SaveManifest(const std::string& environments_dir, const Manifest& manifest) {
  RETURN_IF_ERROR(MakePrivateFolder(environments_dir + "/manifests"));
  return WriteFileDurably(ManifestPath(environments_dir, manifest.id), ToJson(manifest));
}

absl::StatusOr<Manifest> LoadManifest(const std::string& environments_dir, const std::string& id) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(ManifestPath(environments_dir, id)));
  return ManifestFromJson(text);
}

absl::StatusOr<UniqueFd> LockEnvironments(const std::string& environments_dir,
                                          const std::function<void()>& waits) {
  ASSIGN_OR_RETURN(UniqueFd lock, OpenLock(environments_dir, ".lock"));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (waits) waits();
  RETURN_IF_ERROR(Wait(lock, LOCK_EX, environments_dir));
  return lock;
}

absl::StatusOr<UniqueFd> KeepReceived(const std::string& environments_dir) {
  ASSIGN_OR_RETURN(UniqueFd lock, OpenLock(environments_dir, ".receiving"));
  RETURN_IF_ERROR(Wait(lock, LOCK_SH, environments_dir));
  return lock;
}

absl::StatusOr<UniqueFd> StopReceiving(const std::string& environments_dir) {
  ASSIGN_OR_RETURN(UniqueFd lock, OpenLock(environments_dir, ".receiving"));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return FileError(environments_dir + "/.receiving");
  return UniqueFd();
}

}  // namespace dynbench::worker
