#include "worker/host/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

absl::Status SystemError(const std::string& path) {
  const int error = errno;
  const std::string text = absl::StrCat(path, ": ", strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(text);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

absl::Status SyncFolder(const std::string& folder) {
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || fsync(fd.get()) != 0) return SystemError(folder);
  return absl::OkStatus();
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

absl::Status WriteFileDurably(const std::string& path, std::string_view bytes) {
  static std::atomic<int> counter{0};
  const std::string temporary = absl::StrCat(path, ".new-", getpid(), "-", counter.fetch_add(1));
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return SystemError(temporary);
  absl::Status status;
  while (!bytes.empty() && status.ok()) {
    const ssize_t n = write(fd.get(), bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      status = SystemError(temporary);
    }
  }
  if (status.ok() && fsync(fd.get()) != 0) status = SystemError(temporary);
  fd.reset();
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) status = SystemError(path);
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncFolder(FolderOf(path));
}

absl::Status RemoveFileDurably(const std::string& path) {
  if (unlink(path.c_str()) != 0) {
    return errno == ENOENT ? absl::OkStatus() : SystemError(path);
  }
  return SyncFolder(FolderOf(path));
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return SystemError(path);
  std::string bytes;
  char buffer[65536];
  while (true) {
    const ssize_t n = read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(path);
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(n));
  }
}

absl::Status MakePrivateFolder(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(path, " exists and is no folder"));
  }
  const std::string parent = FolderOf(path);
  if (parent != "." && parent != path) RETURN_IF_ERROR(MakePrivateFolder(parent));
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return SystemError(path);
  return absl::OkStatus();
}

}  // namespace dynbench::worker
