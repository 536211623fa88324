#include "worker/host/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

absl::Status RemoveFileDurably(const std::string& path) {
  if (unlink(path.c_str()) != 0) {
    return errno == ENOENT ? absl::OkStatus() : FileError(path);
  }
  return SyncFolder(FolderOf(path));
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return FileError(path);
  std::string bytes;
  char buffer[65536];
  while (true) {
    const ssize_t n = read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError(path);
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
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return FileError(path);
  return absl::OkStatus();
}

}  // namespace dynbench::worker
