#include "common/base/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace dynbench {
namespace {

absl::Status WriteAndSync(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      return FileError(path);
    }
  }
  return fsync(fd) == 0 ? absl::OkStatus() : FileError(path);
}

}  // namespace

absl::Status FileError(const std::string& path) {
  const int error = errno;
  const std::string text = absl::StrCat(path, ": ", strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    return absl::ResourceExhaustedError(text);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

absl::Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError(folder);
  absl::Status status = fsync(fd) == 0 ? absl::OkStatus() : FileError(folder);
  close(fd);
  return status;
}

absl::Status WriteFileDurably(const std::string& path, std::string_view bytes, mode_t mode) {
  static std::atomic<int> counter{0};
  const std::string temporary = absl::StrCat(path, ".new-", getpid(), "-", counter.fetch_add(1));
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return FileError(path);
  absl::Status status = WriteAndSync(fd, bytes, path);
  close(fd);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) status = FileError(path);
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  const std::string folder = std::filesystem::path(path).parent_path();
  return SyncFolder(folder.empty() ? "." : folder);
}

}  // namespace dynbench
