// The worker's end of one lane (worker/runner/PROTOCOL.md, "Lane").
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "worker/process/event_loop.h"
#include "worker/process/line_channel.h"
#include "worker/process/tree_freezer.h"

namespace dynbench::worker {

// Belongs to its event loop's thread. A lane runs one attempt at a time, so everything below its
// process belongs to that attempt.
class Lane {
 public:
  using Message = std::function<void(const nlohmann::json&)>;

  // `pid` is the lane's process, started by a zygote. `loop` outlives the lane.
  Lane(EventLoop* loop, LineChannel channel, pid_t pid, const std::string& name);
  ~Lane();  // closing the socket makes the lane kill what it owns and exit
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Who hears of messages and of the lane's end; replaced for each attempt, empty while idle.
  void Listen(Message message, std::function<void()> lost);

  bool Send(const nlohmann::json& message, const std::vector<int>& fds = {});

  // Kills everything below the lane and the lane itself, from here. For one that does not answer.
  void Destroy();

  bool alive() const { return alive_; }
  pid_t pid() const { return pid_; }
  TreeFreezer& freezer() { return freezer_; }

 private:
  void Read();

  EventLoop* loop_;
  LineChannel channel_;
  pid_t pid_;
  TreeFreezer freezer_;
  bool alive_ = true;
  Message message_;
  std::function<void()> lost_;
};

}  // namespace dynbench::worker
