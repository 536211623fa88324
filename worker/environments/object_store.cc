#include "worker/environments/object_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/base/durable_file.h"
#include "common/base/status.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

mode_t ModeOf(bool executable) { return executable ? 0555 : 0444; }

absl::Status Copy(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("copying ", from, " to ", to, ": ", error.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LinkOrCopy(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  if (errno != EXDEV && errno != EMLINK && errno != EPERM) return FileError(to);
  return Copy(from, to);
}

bool ObjectStore::Has(const std::string& sha256) const {
  return folder_.Has(sha256, Variant(false)) || folder_.Has(sha256, Variant(true));
}

absl::Status ObjectStore::Adopt(const std::string& path, const ManifestFile& file,
                                bool ours) const {
  if (file.size_bytes == 0) return absl::OkStatus();  // made anew: links of one inode are bounded
  const std::string object = folder_.PathOf(file.sha256, Variant(file.executable));
  RETURN_IF_ERROR(folder_.MakeFolderOf(file.sha256));
  if (!ours) {
    if (Has(file.sha256)) return absl::OkStatus();
    return LinkOrCopy(path, object);
  }
  if (chmod(path.c_str(), ModeOf(file.executable)) != 0) return FileError(path);
  if (access(object.c_str(), F_OK) != 0) {
    const absl::Status linked = LinkOrCopy(path, object);
    // Another process may have made it meanwhile.
    return access(object.c_str(), F_OK) == 0 ? absl::OkStatus() : linked;
  }
  // The same content from another environment: one inode from here on.
  const std::string beside = absl::StrCat(path, ".dynbench-link");
  unlink(beside.c_str());
  if (link(object.c_str(), beside.c_str()) != 0) return absl::OkStatus();  // the file stays its own
  if (rename(beside.c_str(), path.c_str()) != 0) return FileError(path);
  unlink(beside.c_str());  // renaming a link of itself does nothing
  return absl::OkStatus();
}

absl::Status ObjectStore::LinkTo(const ManifestFile& file, const std::string& path) const {
  if (file.size_bytes == 0) {
    const int fd =
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, ModeOf(file.executable));
    if (fd < 0) return FileError(path);
    close(fd);
    return absl::OkStatus();
  }
  const std::string object = folder_.PathOf(file.sha256, Variant(file.executable));
  if (access(object.c_str(), F_OK) != 0) {
    const std::string other = folder_.PathOf(file.sha256, Variant(!file.executable));
    if (access(other.c_str(), F_OK) != 0) {
      return absl::NotFoundError(absl::StrCat("no object ", file.sha256, " for ", path));
    }
    const std::string beside = absl::StrCat(object, ".copy");
    unlink(beside.c_str());
    RETURN_IF_ERROR(Copy(other, beside));
    if (chmod(beside.c_str(), ModeOf(file.executable)) != 0 ||
        rename(beside.c_str(), object.c_str()) != 0) {
      return FileError(object);
    }
  }
  return LinkOrCopy(object, path);
}

ObjectStore::Swept ObjectStore::Sweep(bool dry_run, const std::set<std::string>& kept) const {
  Swept swept;
  folder_.ForEach([&](const ObjectFolder::Object& object) {
    struct stat info {};
    if (kept.count(object.sha256) > 0) return;
    if (lstat(object.path.c_str(), &info) != 0 || info.st_nlink > 1) return;
    ++swept.objects;
    swept.bytes += info.st_size;
    if (!dry_run) unlink(object.path.c_str());
  });
  if (!dry_run) folder_.SweepUnfinished(0);
  return swept;
}

}  // namespace dynbench::worker
