// What cuts off a copy for real: another file system, so that it is one, and a process that may not
// write more than so many bytes into a file.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

namespace dynbench::worker {

// A folder on another file system than that of temporary files; empty path: this machine has none.
class OtherFileSystem {
 public:
  OtherFileSystem() {
    struct stat here {
    }, there{};
    std::string pattern = "/dev/shm/dynbench-test-XXXXXX";
    if (stat(std::filesystem::temp_directory_path().c_str(), &here) != 0 ||
        stat("/dev/shm", &there) != 0 || here.st_dev == there.st_dev ||
        mkdtemp(pattern.data()) == nullptr) {
      return;
    }
    path_ = pattern;
  }
  ~OtherFileSystem() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  OtherFileSystem(const OtherFileSystem&) = delete;
  OtherFileSystem& operator=(const OtherFileSystem&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The wait status of a child that runs `work` and may write 1 MiB into a file: beyond that SIGXFSZ
// kills it (SIG_DFL), or its write fails (SIG_IGN).
inline int InChildWithFileLimit(void (*on_limit)(int), const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {1 << 20, 1 << 20}, no_core = {0, 0};
    signal(SIGXFSZ, on_limit);
    setrlimit(RLIMIT_CORE, &no_core);
    _exit(setrlimit(RLIMIT_FSIZE, &limit) == 0 ? work() : 99);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace dynbench::worker
