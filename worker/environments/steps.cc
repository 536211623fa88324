#include "worker/environments/steps.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "worker/process/process_tree.h"
#include "worker/process/spawn.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

constexpr int kLookEveryMs = 200;
constexpr size_t kTailBytes = 3'000;
// After its end: descendants that keep the pipe open are not waited for longer.
constexpr int64_t kDrainMs = 1'000;

enum class Stop { kNone, kTime, kCancel };

void KillSession(pid_t leader) {
  KillTreeOptions tree;
  tree.root = leader;
  tree.reap = [] {};
  KillTree(tree);
  kill(-leader, SIGKILL);
}

}  // namespace

void Steps::Say(const std::string& line) {
  if (options_.sink) options_.sink(line + "\n");
}

absl::Status Steps::Run(const std::string& what, const std::vector<std::string>& argv) {
  return RunIn(options_.working_dir, what, argv);
}

absl::Status Steps::RunIn(const std::string& folder, const std::string& what,
                          const std::vector<std::string>& argv) {
  Say(absl::StrCat("== ", what));
  Say(absl::StrCat("+ ", absl::StrJoin(argv, " ")));
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("pipe: ", strerror(errno)));
  }
  const UniqueFd read_end(out[0]);
  UniqueFd write_end(out[1]);
  SpawnOptions spawn;
  spawn.argv = argv;
  spawn.environment = options_.environment;
  spawn.working_dir = folder;
  spawn.fds = {{1, write_end.get()}, {2, write_end.get()}};
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(spawn));
  write_end.reset();
  std::string tail;
  // Readable at its end; without one (-1) its end is seen a little later.
  const UniqueFd end_of(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const MonotonicTime deadline = MonotonicNow() + options_.limit_ms * kNsPerMs;
  Stop stop = Stop::kNone;
  int status = 0;
  // A command may close its output (exec > build.log) and go on.
  bool ended = false, closed = false;
  MonotonicTime ended_at{};
  while (!ended || !closed) {
    pollfd wait[2] = {{closed ? -1 : read_end.get(), POLLIN, 0},
                      {ended ? -1 : end_of.get(), POLLIN, 0}};
    poll(wait, 2, kLookEveryMs);
    if (wait[0].revents != 0) {
      char buffer[65536];
      const ssize_t n = read(read_end.get(), buffer, sizeof buffer);
      closed = n == 0;
      if (n > 0) {
        const std::string_view bytes(buffer, static_cast<size_t>(n));
        if (options_.sink) options_.sink(bytes);
        tail.append(bytes);
        if (tail.size() > 2 * kTailBytes) tail.erase(0, tail.size() - kTailBytes);
      }
    }
    if (!ended && waitpid(pid, &status, WNOHANG) != 0) {
      ended = true;
      ended_at = MonotonicNow();
    }
    if (ended && MonotonicNow() - ended_at > kDrainMs * kNsPerMs) break;
    if (ended || stop != Stop::kNone) continue;
    if (MonotonicNow() > deadline) stop = Stop::kTime;
    if (options_.cancelled && options_.cancelled()) stop = Stop::kCancel;
    if (stop != Stop::kNone) KillSession(pid);
  }
  if (stop == Stop::kCancel) return absl::CancelledError(absl::StrCat(what, " was cancelled"));
  if (tail.size() > kTailBytes) tail = "…" + tail.substr(tail.size() - kTailBytes);
  if (stop == Stop::kTime) {
    return absl::DeadlineExceededError(absl::StrCat(what, " was ended after ",
                                                    options_.limit_ms / 1000,
                                                    " s (\"timeout\" of the recipe):\n", tail));
  }
  const ExitStatus exit = DecodeWaitStatus(status);
  if (exit.success()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(what, " failed (", exit.signal != 0 ? "signal " : "exit code ",
                   exit.signal != 0 ? exit.signal : exit.code, "):\n", tail));
}

}  // namespace dynbench::worker
