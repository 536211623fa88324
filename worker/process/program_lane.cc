#include "worker/process/program_lane.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "worker/process/process_tree.h"
#include "worker/process/spawn.h"
#include "worker/process/stack_dump.h"

namespace dynbench::worker {
namespace {

constexpr size_t kFdsOfARun = 3;  // control (unused by programs), stdout, stderr

// Then nobody is left below, at any depth: the lane is the subreaper of its descendants, so each of
// them has it as its parent or has a parent that is one of them. Exact, where a walk through /proc
// is a guess that takes milliseconds on a host with many processes.
bool HasNoChild() {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 && errno == ECHILD;
}

UniqueFd ChildSignals() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  return UniqueFd(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

std::optional<int> RunAsProgramLane(int argc, char** argv) {
  if (argc != 3 || strcmp(argv[1], kProgramLaneWord) != 0) return std::nullopt;
  int fd = -1;
  if (!absl::SimpleAtoi(argv[2], &fd) || fd < 3) return 2;
  return ProgramLane(LineChannel(UniqueFd(fd))).Run();
}

ProgramLane::ProgramLane(LineChannel channel)
    : channel_(std::move(channel)), child_signals_(ChildSignals()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "dynbench-lane");
  signal(SIGPIPE, SIG_IGN);
}

int ProgramLane::Run() {
  while (true) {
    pollfd ready[] = {{channel_.fd(), POLLIN, 0}, {child_signals_.get(), POLLIN, 0}};
    if (poll(ready, std::size(ready), -1) < 0) continue;
    if (ready[1].revents != 0) {
      signalfd_siginfo info;
      while (read(child_signals_.get(), &info, sizeof info) > 0) {
      }
      Reap();
      FinishIfReaped();
    }
    if (ready[0].revents == 0) continue;
    const bool open = channel_.Receive();
    for (auto& fd : channel_.TakeFds()) fds_.push_back(std::move(fd));
    while (const auto line = channel_.TakeLine()) Handle(*line);
    if (!open) {
      KillAll(0);
      return 0;
    }
  }
}

void ProgramLane::Handle(const std::string& line) {
  const auto message = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  const std::string type = message.is_object() ? message.value("type", "") : "";
  if (type == "run") {
    HandleRun(message);
  } else if (type == "kill") {
    HandleKill(message);
  } else {
    Refuse("", "the lane knows no message of type \"" + type + "\"");
  }
}

void ProgramLane::HandleRun(const nlohmann::json& message) {
  const std::string attempt = message.value("attempt", "");
  std::vector<UniqueFd> fds;
  while (fds.size() < kFdsOfARun && !fds_.empty()) {
    fds.push_back(std::move(fds_.front()));
    fds_.erase(fds_.begin());
  }
  if (fds.size() < kFdsOfARun) return Refuse(attempt, "a run needs three descriptors beside it");
  if (running_) return Refuse(attempt, "the lane still runs " + running_->attempt);
  SpawnOptions options;
  try {
    options.argv = message.at("argv").get<std::vector<std::string>>();
    options.environment = message.at("environment").get<std::map<std::string, std::string>>();
    options.working_dir = message.at("work_dir").get<std::string>();
    options.cores = message.at("cores").get<std::vector<int>>();
    options.memory_limit_bytes = message.value("memory_limit_bytes", int64_t{0});
    options.processes_limit = message.value("processes_limit", uint64_t{0});
  } catch (const nlohmann::json::exception& error) {
    return Refuse(attempt, error.what());
  }
  options.fds = {{1, fds[1].get()}, {2, fds[2].get()}};
  const auto pid = Spawn(options);
  if (!pid.ok()) return Refuse(attempt, std::string(pid.status().message()));
  running_ = Running{.attempt = attempt, .pid = *pid};
  running_->dump_stacks = message.value("dump_stacks", false);
  Send({{"type", "spawned"}, {"attempt", attempt}, {"pid", *pid}});
}

void ProgramLane::HandleKill(const nlohmann::json& message) {
  // It ended meanwhile: `exited` is on its way.
  if (!running_ || running_->attempt != message.value("attempt", "")) return;
  const int64_t grace_ms = message.value("grace_ms", int64_t{5'000});
  // Without a grace it stands still, in another one's window.
  if (running_->dump_stacks && grace_ms > 0) DumpStacks(getpid());
  KillAll(grace_ms);
  FinishIfReaped();
}

void ProgramLane::KillAll(int64_t grace_ms) {
  Reap();
  if (HasNoChild()) return;
  const bool child_lived = running_ && !running_->reaped;
  const auto report = KillTree(
      {.root = getpid(), .grace_ms = grace_ms, .reap = [this] { Reap(); }, .spare = nullptr});
  Reap();
  if (running_) running_->descendants_killed += report.signalled - (child_lived ? 1 : 0);
  if (!report.gone && running_) running_->left = report.left;
}

void ProgramLane::Reap() {
  rusage usage{};
  int status = 0;
  while (true) {
    const pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid <= 0) return;
    if (!running_) continue;
    running_->max_rss_bytes = std::max<int64_t>(running_->max_rss_bytes, usage.ru_maxrss * 1024);
    if (pid != running_->pid) continue;
    running_->reaped = true;
    running_->wait_status = status;
  }
}

void ProgramLane::FinishIfReaped() {
  if (!running_) return;
  if (running_->reaped && running_->left.empty()) KillAll(0);
  // One that KILL does not reach is told at once: its slot is closed until it is gone.
  if (!running_->reaped && running_->left.empty()) return;
  const int status = running_->reaped ? running_->wait_status : SIGKILL;
  nlohmann::json left = nlohmann::json::array();
  for (const auto& process : running_->left) {
    left.push_back({{"pid", process.pid}, {"start_ticks", process.start_ticks}});
  }
  Send({{"type", "exited"},
        {"attempt", running_->attempt},
        {"code", WIFEXITED(status) ? WEXITSTATUS(status) : -1},
        {"signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0},
        {"descendants_killed", running_->descendants_killed},
        {"max_rss_bytes", running_->max_rss_bytes},
        {"left", std::move(left)}});
  running_.reset();
}

void ProgramLane::Refuse(const std::string& attempt, const std::string& reason) {
  Send({{"type", "refused"}, {"attempt", attempt}, {"error", reason}});
}

void ProgramLane::Send(const nlohmann::json& message) {
  channel_.Send(message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace dynbench::worker
