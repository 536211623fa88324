#include "worker/environments/object_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/base/durable_file.h"
#include "common/base/status.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCopyBytes = 1 << 20;

mode_t ModeOf(bool executable) { return executable ? 0555 : 0444; }

absl::Status Copy(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (!error) return absl::OkStatus();
  errno = error.value();
  return FileError(to);
}

// Whether the system's last error says that there can be no hard link.
bool NeedsCopy() { return errno == EXDEV || errno == EMLINK || errno == EPERM; }

// What a disk that was full, a power cut or somebody's editor left is removed.
bool IsWhole(const std::string& object, int64_t size_bytes) {
  struct stat info {};
  if (stat(object.c_str(), &info) != 0) return false;
  if (info.st_size > 0 && (size_bytes == kAnySize || info.st_size == size_bytes)) return true;
  unlink(object.c_str());
  return false;
}

}  // namespace

absl::Status LinkOrCopy(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return NeedsCopy() ? Copy(from, to) : FileError(to);
}

bool ObjectStore::Has(const std::string& sha256) const {
  return folder_.Has(sha256, Variant(false)) || folder_.Has(sha256, Variant(true));
}

bool ObjectStore::HasWhole(const ManifestFile& file) const {
  const bool plain = IsWhole(PathOf(file, false), file.size_bytes);
  return IsWhole(PathOf(file, true), file.size_bytes) || plain;
}

absl::Status ObjectStore::Verify(const std::string& sha256) const {
  bool damaged = false;
  for (const bool executable : {false, true}) {
    const std::string path = folder_.PathOf(sha256, Variant(executable));
    const auto digest = Sha256OfFile(path);
    if (absl::IsNotFound(digest.status())) continue;
    RETURN_IF_ERROR(digest.status());
    if (*digest == sha256) continue;
    damaged = true;
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return FileError(path);
  }
  if (!damaged) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "object ", sha256, " of this host was damaged and is removed; ask again, so that it comes ",
      "again (dynbenchctl env build, derive)"));
}

// A link of the file becomes the object, or a copy where there can be none.
absl::Status ObjectStore::TakeIn(const std::string& path, const ManifestFile& file) const {
  const std::string object = PathOf(file, file.executable);
  // There already: another process has made it meanwhile.
  if (link(path.c_str(), object.c_str()) == 0 || errno == EEXIST) return absl::OkStatus();
  return NeedsCopy() ? CopyIn(path, file) : FileError(object);
}

// Under another name until it is whole and hashed: it may be gigabytes, and this process may be
// killed, or the disk be full, in the middle.
absl::Status ObjectStore::CopyIn(const std::string& path, const ManifestFile& file) const {
  const UniqueFd in(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in) return FileError(path);
  ASSIGN_OR_RETURN(
      const auto writer,
      ObjectWriter::Begin(folder_, file.sha256, Variant(file.executable), ModeOf(file.executable)));
  std::string buffer(kCopyBytes, '\0');
  while (true) {
    const ssize_t n = read(in.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError(path);
    if (n == 0) return writer->Finish();
    RETURN_IF_ERROR(writer->Add({buffer.data(), static_cast<size_t>(n)}));
  }
}

absl::Status ObjectStore::Adopt(const std::string& path, const ManifestFile& file,
                                bool ours) const {
  if (file.size_bytes == 0) return absl::OkStatus();  // made anew: links of one inode are bounded
  const std::string object = PathOf(file, file.executable);
  RETURN_IF_ERROR(folder_.MakeFolderOf(file.sha256));
  if (!ours) return HasWhole(file) ? absl::OkStatus() : TakeIn(path, file);
  if (chmod(path.c_str(), ModeOf(file.executable)) != 0) return FileError(path);
  if (!IsWhole(object, file.size_bytes)) return TakeIn(path, file);
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
  const std::string object = PathOf(file, file.executable);
  if (!IsWhole(object, file.size_bytes)) {
    const std::string other = PathOf(file, !file.executable);
    if (!IsWhole(other, file.size_bytes)) {
      return absl::NotFoundError(
          absl::StrCat("no object ", file.sha256, " for ", path,
                       "; ask again, so that it comes again (dynbenchctl env build, derive)"));
    }
    const absl::Status copied = CopyIn(other, file);
    if (absl::IsDataLoss(copied)) return Annotate(Verify(file.sha256), path);
    RETURN_IF_ERROR(copied);
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
