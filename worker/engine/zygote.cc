#include "worker/engine/zygote.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "spdlog/spdlog.h"
#include "worker/host/durable_file.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {
namespace {

// The runner is given its socket as this number (PROTOCOL.md).
constexpr int kSocketFd = 3;
// Doubles from the first to the last: a zygote that dies at once must not keep a core busy.
constexpr int64_t kFirstBackOffMs = 500;
constexpr int64_t kLastBackOffMs = 30'000;

int64_t BackOffMs(int failures) {
  return std::min(kLastBackOffMs, kFirstBackOffMs << std::min(failures - 1, 10));
}

}  // namespace

Zygote::Zygote(EventLoop* loop, ZygoteSpec spec) : loop_(loop), spec_(std::move(spec)) {}

Zygote::~Zygote() {
  loop_->Cancel(timer_);
  if (!channel_.open()) return;
  loop_->Unwatch(channel_.fd());
  channel_.Close();
  if (pid_ > 0) {
    kill(pid_, SIGKILL);  // it owns nothing
    waitpid(pid_, nullptr, 0);
  }
}

void Zygote::Start() {
  const absl::Status launched = Launch();
  if (launched.ok()) return;
  error_ = std::string(launched.message());
  pid_ = 0;
  Ended();
}

absl::Status Zygote::Launch() {
  state_ = State::kStarting;
  const Environment& environment = spec_.environment;
  RETURN_IF_ERROR(CheckUnchanged(environment));
  RETURN_IF_ERROR(MakePrivateFolder(spec_.folder + "/tmp"));
  const std::string log_path = spec_.folder + "/zygote.log";
  UniqueFd log(open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!log) return absl::UnavailableError(absl::StrCat(log_path, ": ", strerror(errno)));
  auto [ours, theirs] = SocketPair();
  if (!ours) return absl::ResourceExhaustedError("no descriptors left");
  SpawnOptions options;
  options.argv = {environment.RunnerPath(), "--python", environment.facts.python, "--shims",
                  environment.ShimsDir(),   "--fd",     absl::StrCat(kSocketFd)};
  options.environment = spec_.variables;
  options.working_dir = spec_.folder;
  options.fds = {{1, log.get()}, {2, log.get()}, {kSocketFd, theirs.get()}};
  options.cores = spec_.cores;
  ASSIGN_OR_RETURN(pid_, Spawn(options));
  fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  channel_ = LineChannel(std::move(ours));
  loop_->Watch(channel_.fd(), [this] { Read(); });
  spdlog::info("zygote {} of environment {} ({}) starts", pid_, environment.name, spec_.profile);
  return absl::OkStatus();
}

void Zygote::RequestLane(LaneReady ready) {
  waiting_.push_back(std::move(ready));
  if (state_ == State::kReady) SendRequests();
  // While a failed start is backed off, askers hear why instead of waiting with it.
  if (state_ == State::kWaiting) {
    loop_->After(0, [this] {
      if (state_ == State::kWaiting) FailAll(absl::UnavailableError(error_));
    });
  }
}

void Zygote::SendRequests() {
  for (LaneReady& ready : std::exchange(waiting_, {})) {
    auto [ours, theirs] = SocketPair();
    if (!ours) {
      ready(absl::ResourceExhaustedError("no descriptors left"));
      continue;
    }
    fcntl(ours.get(), F_SETFL, O_NONBLOCK);
    const int lane = ++last_lane_;
    pending_[lane] = {LineChannel(std::move(ours)), std::move(ready)};
    // When the zygote is gone its end of file says so, and fails what is pending.
    channel_.Send(nlohmann::json{{"type", "lane"}, {"lane", lane}}.dump(), {theirs.get()});
  }
}

void Zygote::Read() {
  const bool open = channel_.Receive();
  while (auto line = channel_.TakeLine()) {
    const auto message = nlohmann::json::parse(*line, nullptr, false);
    if (message.is_object()) Handle(message);
  }
  if (open) return;
  loop_->Unwatch(channel_.fd());
  channel_.Close();
  int status = 0;
  kill(pid_, SIGKILL);  // it closed its socket, so it is of no use any more
  if (waitpid(pid_, &status, 0) == pid_ && error_.empty()) {
    const ExitStatus exit = DecodeWaitStatus(status);
    error_ =
        absl::StrCat("the zygote of environment ", spec_.environment.name, " ended (exit code ",
                     exit.code, ", signal ", exit.signal, "); see ", spec_.folder, "/zygote.log");
  }
  pid_ = 0;
  Ended();
}

void Zygote::Handle(const nlohmann::json& message) {
  const std::string type = message.value("type", "");
  if (type == "ready") {
    state_ = State::kReady;
    failures_ = 0;
    error_.clear();
    spdlog::info("zygote {} of environment {} is ready: torch {}, imports {:.1f} s", pid_,
                 spec_.environment.name, message.value("torch", "?"),
                 message.value("import_s", 0.0));
    SendRequests();
    if (on_ready) on_ready();
  } else if (type == "failed") {
    error_ = absl::StrCat("environment ", spec_.environment.name,
                          " cannot be imported: ", message.value("error", "no reason given"));
  } else if (type == "lane_started") {
    const auto it = pending_.find(message.value("lane", 0));
    if (it == pending_.end()) return;
    Pending pending = std::move(it->second);
    pending_.erase(it);
    pending.ready(std::make_unique<Lane>(loop_, std::move(pending.channel), message.value("pid", 0),
                                         absl::StrCat(getpid(), "-", message.value("pid", 0))));
  }
}

void Zygote::Ended() {
  ++failures_;
  state_ = State::kWaiting;
  const int64_t delay_ms = BackOffMs(failures_);
  spdlog::warn("{}; starting it again in {} ms", error_, delay_ms);
  FailAll(absl::UnavailableError(error_));
  timer_ = loop_->After(delay_ms, [this] {
    error_.clear();
    Start();
  });
}

void Zygote::FailAll(const absl::Status& status) {
  std::vector<LaneReady> failed = std::exchange(waiting_, {});
  for (auto& [lane, pending] : std::exchange(pending_, {})) {
    failed.push_back(std::move(pending.ready));
  }
  for (LaneReady& ready : failed) ready(status);
}

}  // namespace dynbench::worker
