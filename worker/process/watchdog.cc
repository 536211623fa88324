#include "worker/process/watchdog.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "worker/process/fd_passing.h"
#include "worker/process/owned_mark.h"

namespace dynbench::worker {
namespace {

constexpr int kSocketFd = 3;
constexpr char kNothingToDo = 'q';

int WatchOver(int fd, const std::string& mark) {
  prctl(PR_SET_NAME, "dynbench-watch");
  for (const int stop : {SIGTERM, SIGINT, SIGHUP})
    signal(stop, SIG_IGN);  // it ends with its worker
  char said = 0;
  ssize_t n;
  do {
    n = read(fd, &said, 1);
  } while (n < 0 && errno == EINTR);
  if (n == 1 && said == kNothingToDo) return 0;
  EndProcessesOfOwner(mark);
  return 0;
}

}  // namespace

std::optional<int> RunAsWatchdog(int argc, char** argv) {
  if (argc != 4 || strcmp(argv[1], kWatchdogWord) != 0) return std::nullopt;
  int fd = -1;
  if (!absl::SimpleAtoi(argv[2], &fd) || fd < 3) return 2;
  return WatchOver(fd, argv[3]);
}

absl::StatusOr<Watchdog> Watchdog::Start(const std::string& program, const std::string& mark,
                                         const Spawner& spawn) {
  auto [ours, theirs] = SocketPair();
  if (!ours) return absl::ResourceExhaustedError("no descriptors left");
  SpawnOptions options;
  options.argv = {program, kWatchdogWord, absl::StrCat(kSocketFd), mark};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  options.working_dir = "/";
  options.fds = {{kSocketFd, theirs.get()}};
  options.die_with_caller = false;
  ASSIGN_OR_RETURN(const pid_t pid, spawn(options));
  return Watchdog(std::move(ours), pid);
}

Watchdog::~Watchdog() {
  if (!socket_) return;  // moved from
  send(socket_.get(), &kNothingToDo, 1, MSG_NOSIGNAL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace dynbench::worker
