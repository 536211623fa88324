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
  RETURN_IF_ERROR(MakePrivateFolder(environments_dir));
  const std::string path = environments_dir + "/.lock";
  UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return FileError(path);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (waits) waits();
  while (flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return FileError(path);
  }
  return lock;
}

}  // namespace dynbench::worker
