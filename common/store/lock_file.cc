#include "common/store/lock_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/status.h"

namespace dynbench::store {
namespace {

std::string ReadHolder(int fd) {
  char text[32];
  const ssize_t size = pread(fd, text, sizeof text, 0);
  std::string holder(text, size > 0 ? static_cast<size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "unknown" : holder;
}

}  // namespace

absl::StatusOr<int> TakeLockFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open the lock file ", path));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
    const int error = errno;
    const std::string holder = ReadHolder(fd);
    close(fd);
    if (error == EAGAIN || error == EACCES) {
      return absl::FailedPreconditionError(
          absl::StrCat("another coordinator (process ", holder, ") has this database: ", path,
                       " is locked; stop it, or give another --state-dir"));
    }
    return absl::ErrnoToStatus(error, absl::StrCat("cannot lock ", path));
  }
  // Only for people: the lock is the truth, so a failed write is no error.
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(fd, 0) == 0) {
    [[maybe_unused]] const ssize_t written = pwrite(fd, pid.data(), pid.size(), 0);
  }
  return fd;
}

}  // namespace dynbench::store
