#include "worker/runner/lane.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "worker/process/process_tree.h"
#include "worker/process/stack_dump.h"
#include "worker/runner/attempt.h"
#include "worker/runner/child.h"
#include "worker/runner/python_embedding.h"
#include "worker/runner/zygote.h"

namespace dynbench::runner {
namespace {

constexpr size_t kFdsOfARun = 3;
}  // namespace

Lane::Lane(worker::LineChannel channel)
    : channel_(std::move(channel)), child_signals_(BlockChildSignals()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "dynbench-lane");
}

int Lane::Run() {
  while (true) {
    pollfd ready[] = {{channel_.fd(), POLLIN, 0}, {child_signals_.get(), POLLIN, 0}};
    if (poll(ready, std::size(ready), -1) < 0) continue;
    if (ready[1].revents != 0) {
      DrainChildSignals(child_signals_.get());
      Reap();
      FinishIfReaped();
    }
    if (ready[0].revents == 0) continue;
    const bool open = channel_.Receive();
    for (auto& fd : channel_.TakeFds()) fds_.push_back(std::move(fd));
    while (const auto line = channel_.TakeLine()) HandleLine(*line);
    if (!open) {
      KillAll(0);
      return 0;
    }
  }
}

void Lane::HandleLine(const std::string& line) {
  const Json message = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const std::string type = message.is_object() ? message.value("type", "") : "";
  if (type == "run") {
    HandleRun(message);
  } else if (type == "kill") {
    HandleKill(message);
  } else {
    Refuse("", "the lane knows no message of type \"" + type + "\"");
  }
}

void Lane::HandleRun(const Json& message) {
  const std::string attempt = message.value("attempt", "");
  std::vector<worker::UniqueFd> fds;
  while (fds.size() < kFdsOfARun && !fds_.empty()) {
    fds.push_back(std::move(fds_.front()));
    fds_.erase(fds_.begin());
  }
  if (fds.size() < kFdsOfARun) {
    Refuse(attempt, "a run needs three descriptors beside it: control, stdout, stderr");
  } else if (running_) {
    Refuse(attempt, "the lane still runs " + running_->attempt + "; one attempt at a time");
  } else if (const std::string reason = WhyNotFork(); !reason.empty()) {
    Refuse(attempt, reason);
  } else {
    Spawn(message, std::move(fds));
  }
}

void Lane::Spawn(const Json& message, std::vector<worker::UniqueFd> fds) {
  Attempt attempt;
  try {
    attempt = ParseAttempt(message);
    for (auto* folder : {&attempt.cache_dir, &attempt.temporary_dir, &attempt.headers_dir}) {
      *folder = aliases_.For(*folder);
    }
  } catch (const std::exception& error) {
    aliases_.Clear();
    return Refuse(message.value("attempt", ""), error.what());
  }
  const pid_t lane = getpid();
  const pid_t pid = ForkPython();
  if (pid < 0) {
    aliases_.Clear();
    return Refuse(attempt.id, "fork failed: out of processes or memory");
  }
  if (pid == 0) {
    channel_.Close();
    child_signals_.reset();
    fds_.clear();
    ChildMain(attempt, {std::move(fds[0]), std::move(fds[1]), std::move(fds[2])}, lane);
  }
  running_ = Running{.attempt = attempt.id, .pid = pid};
  Send({{"type", "spawned"}, {"attempt", attempt.id}, {"pid", pid}});
}

void Lane::HandleKill(const Json& message) {
  const std::string attempt = message.value("attempt", "");
  // It ended meanwhile: `exited` is on its way.
  if (!running_ || running_->attempt != attempt) return;
  const int64_t grace_ms = message.value("grace_ms", int64_t{5'000});
  // Without a grace it stands still, in another one's window. (Its state would
  // not tell: what a cgroup froze is not shown as stopped.)
  if (grace_ms > 0) worker::DumpStacks(getpid());
  KillAll(grace_ms);
  FinishIfReaped();
}

void Lane::KillAll(int64_t grace_ms) {
  Reap();
  const bool child_lived = running_ && !running_->reaped;
  const auto report = worker::KillTree(
      {.root = getpid(), .grace_ms = grace_ms, .reap = [this] { Reap(); }, .spare = nullptr});
  Reap();
  if (running_) running_->descendants_killed += report.signalled - (child_lived ? 1 : 0);
  if (!report.gone && running_) running_->left = report.left;
}

void Lane::Reap() {
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

void Lane::FinishIfReaped() {
  if (!running_) return;
  if (running_->reaped && running_->left.empty()) KillAll(0);
  // One that KILL does not reach is told at once: its slot is closed until it is gone.
  if (!running_->reaped && running_->left.empty()) return;
  const int status = running_->reaped ? running_->wait_status : SIGKILL;
  Json left = Json::array();
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
  aliases_.Clear();
}

void Lane::Refuse(const std::string& attempt, const std::string& reason) {
  Send({{"type", "refused"}, {"attempt", attempt}, {"error", reason}});
}

void Lane::Send(const Json& message) {
  channel_.Send(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace dynbench::runner
