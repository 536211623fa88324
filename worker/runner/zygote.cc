#include "worker/runner/zygote.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>
#include <utility>

#include "worker/process/process_tree.h"
#include "worker/runner/fork_safety.h"
#include "worker/runner/lane.h"
#include "worker/runner/phases.h"
#include "worker/runner/python_embedding.h"
#include "worker/runner/tensor_operations.h"

namespace dynbench::runner {
namespace {

constexpr int kNotImportable = 3;
constexpr int kUnfit = 4;

}  // namespace

std::string WhyNotFork() { return WhyNotFork(ReadForkFacts(TensorOperations())); }

worker::UniqueFd BlockChildSignals() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  return worker::UniqueFd(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

void DrainChildSignals(int fd) {
  signalfd_siginfo info;
  while (read(fd, &info, sizeof info) > 0) {
  }
}

Zygote::Zygote(const ZygoteOptions& options)
    : options_(options), channel_(worker::UniqueFd(options.fd)) {}

int Zygote::Run() {
  if (const auto status = ImportAll()) return *status;
  child_signals_ = BlockChildSignals();
  // A lane that is killed leaves its tree to us.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  return Serve();
}

std::optional<int> Zygote::ImportAll() {
  const int64_t begin_ns = NowNs();
  Json versions;
  try {
    CountTensorOperations();
    StartPython(options_.python, options_.shims);
    versions = ImportLibraries();
  } catch (const std::exception& error) {
    Send({{"type", "failed"}, {"error", error.what()}});
    return kNotImportable;
  }
  const int64_t during_import = TensorOperations();
  ResetTensorOperations();
  if (const std::string reason = WhyNotFork(); !reason.empty()) {
    Send({{"type", "failed"}, {"error", "after the imports " + reason}});
    return kUnfit;
  }
  Send({{"type", "ready"},
        {"pid", getpid()},
        {"torch", versions.value("torch", "")},
        {"versions", versions},
        {"import_s", static_cast<double>(NowNs() - begin_ns) / 1e9},
        {"threads", ThreadsThatMatter(ReadForkFacts(0))},
        {"tensor_operations", TensorOperations()},
        {"import_tensor_operations", during_import}});
  return std::nullopt;
}

int Zygote::Serve() {
  while (true) {
    pollfd ready[] = {{channel_.fd(), POLLIN, 0}, {child_signals_.get(), POLLIN, 0}};
    if (poll(ready, std::size(ready), -1) < 0) continue;
    if (ready[1].revents != 0) ReapLanes();
    if (ready[0].revents == 0) continue;
    const bool open = channel_.Receive();
    for (auto& fd : channel_.TakeFds()) fds_.push_back(std::move(fd));
    while (const auto line = channel_.TakeLine()) {
      if (const auto status = HandleLine(*line)) return *status;
    }
    if (!open) return 0;
  }
}

std::optional<int> Zygote::HandleLine(const std::string& line) {
  const Json message = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const std::string type = message.is_object() ? message.value("type", "") : "";
  if (type != "lane") {
    Send({{"type", "refused"}, {"error", "the zygote knows no message of type \"" + type + "\""}});
    return std::nullopt;
  }
  if (fds_.empty()) {
    Send({{"type", "refused"}, {"error", "a lane needs one descriptor beside it: its socket"}});
    return std::nullopt;
  }
  worker::UniqueFd socket = std::move(fds_.front());
  fds_.erase(fds_.begin());
  return StartLane(message.value("lane", 0), std::move(socket));
}

std::optional<int> Zygote::StartLane(int lane, worker::UniqueFd socket) {
  if (const std::string reason = WhyNotFork(); !reason.empty()) {
    fprintf(stderr, "dynbench-runner: zygote %d: %s\n", getpid(), reason.c_str());
    Send({{"type", "failed"}, {"error", reason}});
    return kUnfit;
  }
  const pid_t pid = ForkPython();
  if (pid < 0) {
    Send({{"type", "failed"}, {"error", "fork failed: out of processes or memory"}});
    return kUnfit;
  }
  if (pid == 0) {
    channel_.Close();
    child_signals_.reset();
    fds_.clear();
    return Lane(worker::LineChannel(std::move(socket))).Run();
  }
  lanes_.insert(pid);
  Send({{"type", "lane_started"}, {"lane", lane}, {"pid", pid}});
  return std::nullopt;
}

void Zygote::ReapLanes() {
  DrainChildSignals(child_signals_.get());
  bool lane_ended = false;
  int status = 0;
  while (true) {
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) break;
    lane_ended = lanes_.erase(pid) > 0 || lane_ended;
  }
  if (!lane_ended) return;
  // Only the tree of the lane that died: it is nobody's now, and nobody would report it.
  worker::KillTree(
      {.root = getpid(),
       .reap =
           [this] {
             int ignored = 0;
             for (pid_t pid = 1; pid > 0;) lanes_.erase(pid = waitpid(-1, &ignored, WNOHANG));
           },
       .spare =
           [this](const worker::ProcessStat& process) { return lanes_.contains(process.pid); }});
}

void Zygote::Send(const Json& message) {
  channel_.Send(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace dynbench::runner
