#include "worker/engine/lane.h"

#include <signal.h>

#include <utility>

#include "spdlog/spdlog.h"
#include "worker/process/process_tree.h"

namespace dynbench::worker {

Lane::Lane(EventLoop* loop, LineChannel channel, pid_t pid, const std::string& name)
    : loop_(loop), channel_(std::move(channel)), pid_(pid), freezer_(pid, name) {
  loop_->Watch(channel_.fd(), [this] { Read(); });
}

Lane::~Lane() {
  if (channel_.open()) loop_->Unwatch(channel_.fd());
}

void Lane::Listen(Message message, std::function<void()> lost) {
  message_ = std::move(message);
  lost_ = std::move(lost);
}

bool Lane::Send(const nlohmann::json& message, const std::vector<int>& fds) {
  return alive_ && channel_.Send(message.dump(), fds);
}

void Lane::Destroy() {
  const auto self = ReadProcessStat(pid_);
  KillTree({.root = pid_});
  if (self) SignalProcess(*self, SIGKILL);
}

void Lane::Read() {
  const bool open = channel_.Receive();
  // A listener may be replaced, or this lane be given up, by the message it hears: the last one of
  // an attempt is followed by nothing.
  while (auto line = channel_.TakeLine()) {
    const auto message = nlohmann::json::parse(*line, nullptr, false);
    if (message.is_discarded()) {
      spdlog::error("lane {}: not a message: {}", pid_, line->substr(0, 200));
      continue;
    }
    const Message listener = message_;
    if (listener) listener(message);
  }
  if (open) return;
  alive_ = false;
  loop_->Unwatch(channel_.fd());
  channel_.Close();
  const auto lost = std::exchange(lost_, nullptr);
  if (lost) lost();
}

}  // namespace dynbench::worker
