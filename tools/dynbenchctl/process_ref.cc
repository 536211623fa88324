#include "tools/dynbenchctl/process_ref.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "common/base/time.h"

extern char** environ;

namespace dynbench::cli {
namespace {

constexpr int64_t kKillMs = 10'000;  // a process outlives KILL only inside a system call

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string BootId() {
  std::string id = ReadAll("/proc/sys/kernel/random/boot_id");
  id.erase(id.find_last_not_of(" \n") + 1);
  return id;
}

class PidFd {
 public:
  explicit PidFd(pid_t pid) : fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  PidFd(PidFd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  PidFd(const PidFd&) = delete;
  PidFd& operator=(const PidFd&) = delete;
  ~PidFd() {
    if (fd_ >= 0) close(fd_);
  }
  bool ok() const { return fd_ >= 0; }
  void Signal(int signal) const { syscall(SYS_pidfd_send_signal, fd_, signal, nullptr, 0); }
  // The process has ended, at the latest after `ms`.
  bool WaitEnd(int64_t ms) const {
    pollfd poll_fd{fd_, POLLIN, 0};
    return poll(&poll_fd, 1, static_cast<int>(ms)) > 0;
  }

 private:
  int fd_;
};

struct Target {
  ProcessRef process;
  PidFd fd;
};

// Waits until all have ended or `ms` have passed; returns those that are left.
std::vector<const Target*> StillThere(const std::vector<Target>& targets, int64_t ms) {
  const MonotonicTime deadline = MonotonicNow() + ms * kNsPerMs;
  std::vector<const Target*> left;
  for (const Target& target : targets) {
    const int64_t rest_ms = std::max<int64_t>(0, (deadline - MonotonicNow()) / kNsPerMs);
    if (!target.fd.WaitEnd(rest_ms)) left.push_back(&target);
  }
  return left;
}

}  // namespace

std::optional<ProcessRef> Capture(pid_t pid) {
  const std::string stat = ReadAll("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = stat.rfind(')');  // the name may hold anything, parentheses included
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string state, skipped;
  fields >> state;
  if (state.empty() || state == "Z" || state == "X") return std::nullopt;
  for (int field = 4; field <= 21; ++field) fields >> skipped;  // start time is field 22
  ProcessRef process{pid, 0, BootId()};
  if (!(fields >> process.start_ticks)) return std::nullopt;
  return process;
}

bool IsRunning(const ProcessRef& process) {
  return process.pid > 0 && Capture(process.pid) == process;
}

absl::Status StopAll(const std::vector<ProcessRef>& processes, int64_t grace_ms) {
  std::vector<Target> targets;
  for (const ProcessRef& process : processes) {
    if (process.pid <= 0) continue;
    PidFd fd(process.pid);
    // The descriptor holds one process; only then is it asked whether that is the one meant.
    if (fd.ok() && IsRunning(process)) targets.push_back({process, std::move(fd)});
  }
  for (const Target& target : targets) target.fd.Signal(SIGTERM);
  for (const Target* target : StillThere(targets, grace_ms)) target->fd.Signal(SIGKILL);
  const auto left = StillThere(targets, kKillMs);
  if (!left.empty()) {
    return absl::DeadlineExceededError("process " + std::to_string(left.front()->process.pid) +
                                       " is still there after SIGKILL; it hangs in the kernel");
  }
  return absl::OkStatus();
}

absl::StatusOr<ProcessRef> StartDaemon(const std::vector<std::string>& argv,
                                       const std::string& log_path) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return absl::NotFoundError("cannot start " + argv[0] + ": " + std::strerror(error));
  }
  // Ours until we exit, so its number cannot be given away before it is captured; a daemon that
  // ended at once is a zombie and gets a reference that is never running.
  return Capture(pid).value_or(ProcessRef{pid, 0, BootId()});
}

}  // namespace dynbench::cli
