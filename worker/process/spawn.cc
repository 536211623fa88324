#include "worker/process/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

// Everything that the child needs between fork and exec, made before the fork: nothing there may
// allocate or take a lock, or write to memory of the caller's other than this.
struct Prepared {
  std::vector<char*> argv;
  std::vector<std::string> environment_text;
  std::vector<char*> environment;
  const char* working_dir = nullptr;
  std::vector<std::pair<int, int>> fds;  // child's number, ours
  cpu_set_t cores;
  bool set_cores = false;
  rlim_t open_files = 0;
  rlim_t memory = 0;     // 0: not limited
  rlim_t processes = 0;  // likewise
  bool die_with_caller = false;
  pid_t caller = 0;
  int report_fd = -1;
};

struct Failure {
  char step[16];
  int error;
};

[[noreturn]] void Fail(int report_fd, const char* step) {
  Failure failure{};
  failure.error = errno;
  strncpy(failure.step, step, sizeof failure.step - 1);
  [[maybe_unused]] const ssize_t n = write(report_fd, &failure, sizeof failure);
  _exit(127);
}

void CloseFrom(int first, int except) {
  if (except >= first) {
    if (except > first) syscall(SYS_close_range, first, except - 1, 0);
    syscall(SYS_close_range, except + 1, ~0U, 0);
  } else {
    syscall(SYS_close_range, first, ~0U, 0);
  }
}

// Moves the wanted descriptors to their numbers and closes all others.
void ArrangeFds(Prepared& p) {
  int highest = 2;
  for (const auto& [target, source] : p.fds) highest = std::max(highest, target);
  // First out of the way of each other's targets, then into place.
  for (auto& [target, source] : p.fds) {
    source = fcntl(source, F_DUPFD_CLOEXEC, highest + 1);
    if (source < 0) Fail(p.report_fd, "descriptors");
  }
  const int report = fcntl(p.report_fd, F_DUPFD_CLOEXEC, highest + 1);
  if (report < 0) Fail(p.report_fd, "descriptors");
  p.report_fd = report;
  for (int fd = 0; fd <= highest; ++fd) close(fd);
  const int null = open("/dev/null", O_RDWR);  // becomes 0
  if (null != 0) Fail(p.report_fd, "/dev/null");
  for (const auto& [target, source] : p.fds) {
    if (dup2(source, target) < 0) Fail(p.report_fd, "descriptors");
  }
  CloseFrom(highest + 1, report);
}

// Hard and soft, never above what the caller was given. Zero: as it is.
void Lower(int resource, rlim_t limit) {
  rlimit now{};
  if (limit == 0 || getrlimit(resource, &now) != 0) return;
  now.rlim_max = std::min(limit, now.rlim_max);
  now.rlim_cur = now.rlim_max;
  setrlimit(resource, &now);
}

[[noreturn]] void RunChild(Prepared& p) {
  // In this order: a handler of the caller's must not run in the child, which may have its memory.
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  if (p.die_with_caller) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != p.caller) _exit(127);  // the caller was gone before the line above
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min(p.open_files, files.rlim_max);
  setrlimit(RLIMIT_NOFILE, &files);
  Lower(RLIMIT_DATA, p.memory);
  Lower(RLIMIT_NPROC, p.processes);
  if (p.set_cores && sched_setaffinity(0, sizeof p.cores, &p.cores) != 0) {
    Fail(p.report_fd, "cores");
  }
  umask(077);
  ArrangeFds(p);
  if (p.working_dir != nullptr && chdir(p.working_dir) != 0) Fail(p.report_fd, "chdir");
  execve(p.argv[0], p.argv.data(), p.environment.data());
  Fail(p.report_fd, "exec");
}

// The child of vfork borrows the caller's memory until its exec instead of a copy of its page
// tables, which costs most of a fork. It runs below this frame, which stays as it is, and writes
// only into `p`. Sanitizers keep books of memory that such a child would disturb.
[[gnu::noinline]] pid_t ForkChild(Prepared& p) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const pid_t pid = fork();
#else
  const pid_t pid = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
#endif
  if (pid == 0) RunChild(p);
  return pid;
}

// With all signals blocked: the child begins with the caller's mask.
pid_t ForkQuietly(Prepared& p) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ForkChild(p);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

}  // namespace

absl::StatusOr<pid_t> Spawn(const SpawnOptions& options) {
  Prepared p;
  for (const std::string& argument : options.argv) {
    p.argv.push_back(const_cast<char*>(argument.c_str()));
  }
  p.argv.push_back(nullptr);
  for (const auto& [name, value] : options.environment) {
    p.environment_text.push_back(name + "=" + value);
  }
  for (std::string& text : p.environment_text) p.environment.push_back(text.data());
  p.environment.push_back(nullptr);
  if (!options.working_dir.empty()) p.working_dir = options.working_dir.c_str();
  p.fds.assign(options.fds.begin(), options.fds.end());
  CPU_ZERO(&p.cores);
  for (const int core : options.cores) CPU_SET(core, &p.cores);
  p.set_cores = !options.cores.empty();
  p.open_files = options.open_files_limit;
  p.memory = static_cast<rlim_t>(options.memory_limit_bytes);
  p.processes = options.processes_limit;
  p.die_with_caller = options.die_with_caller;
  p.caller = getpid();

  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("pipe: ", strerror(errno)));
  }
  UniqueFd report_read(report[0]), report_write(report[1]);
  p.report_fd = report_write.get();
  const pid_t pid = ForkQuietly(p);
  if (pid < 0) return absl::ResourceExhaustedError(absl::StrCat("fork: ", strerror(errno)));
  report_write.reset();

  Failure failure{};
  ssize_t n;
  do {
    n = read(report_read.get(), &failure, sizeof failure);
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(sizeof failure)) return pid;  // closed by exec
  waitpid(pid, nullptr, 0);
  return absl::FailedPreconditionError(absl::StrCat("cannot start ", options.argv[0], ": ",
                                                    failure.step, ": ", strerror(failure.error)));
}

ExitStatus DecodeWaitStatus(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {-1, WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), 0};
}

absl::StatusOr<CommandResult> RunCommand(SpawnOptions options, int64_t limit_ms, size_t cap_bytes,
                                         const Spawner& spawn) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("pipe: ", strerror(errno)));
  }
  UniqueFd read_end(out[0]), write_end(out[1]);
  options.fds[1] = write_end.get();
  options.fds[2] = write_end.get();
  ASSIGN_OR_RETURN(const pid_t pid, spawn(options));
  write_end.reset();
  CommandResult result;
  result.pid = pid;
  const MonotonicTime deadline = MonotonicNow() + limit_ms * kNsPerMs;
  bool timed_out = false;
  while (true) {
    const int64_t left_ms = (deadline - MonotonicNow()) / kNsPerMs;
    pollfd wait{read_end.get(), POLLIN, 0};
    const int ready = left_ms > 0 ? poll(&wait, 1, static_cast<int>(left_ms)) : 0;
    if (ready == 0) {
      timed_out = true;
      break;
    }
    if (ready < 0) continue;
    char buffer[65536];
    const ssize_t n = read(read_end.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const size_t room = cap_bytes - std::min(cap_bytes, result.output.size());
    result.output.append(buffer, std::min(room, static_cast<size_t>(n)));
  }
  if (timed_out) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (timed_out) {
    return absl::DeadlineExceededError(
        absl::StrCat(options.argv[0], " was killed after ", limit_ms / 1000,
                     " s; its output: ", result.output.substr(0, 2000)));
  }
  result.exit = DecodeWaitStatus(status);
  return result;
}

}  // namespace dynbench::worker
