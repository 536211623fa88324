#include "tools/dynbenchctl/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace dynbench::cli {
namespace {

absl::Status Failed(const std::string& path) {
  return absl::UnavailableError("cannot write " + path + ": " + std::strerror(errno));
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return Failed(path);
  // mkostemp makes the file private; an output is as readable as any other file of its owner.
  const mode_t mask = umask(0);
  umask(mask);
  const bool written = WriteAll(fd, bytes) && fchmod(fd, 0666 & ~mask) == 0 && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  if (written && rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  if (!written) errno = error;
  absl::Status status = Failed(path);
  unlink(temporary.c_str());
  return status;
}

}  // namespace dynbench::cli
