// One zygote (worker/runner/PROTOCOL.md): started early, restarted with back-off when it dies,
// asked for lanes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/engine/child_environment.h"
#include "worker/engine/lane.h"
#include "worker/host/environment.h"
#include "worker/process/event_loop.h"
#include "worker/process/line_channel.h"

namespace dynbench::worker {

struct ZygoteSpec {
  Environment environment;
  std::string profile;
  Variables variables;  // all that it gets
  std::string folder;   // private: zygote.log, tmp/
  std::vector<int> cores;
};

// Belongs to its event loop's thread (which must live as long as the process: the zygote is killed
// with the thread that started it).
class Zygote {
 public:
  using LaneReady = std::function<void(absl::StatusOr<std::unique_ptr<Lane>>)>;

  Zygote(EventLoop* loop, ZygoteSpec spec);
  ~Zygote();  // ends the process; its lanes live on until their own sockets close
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  void Start();

  // Calls back with a new lane, once the zygote is ready; with an error when the environment cannot
  // be imported or the zygote died while asked. Never from within this call.
  void RequestLane(LaneReady ready);

  bool ready() const { return state_ == State::kReady; }
  pid_t pid() const { return pid_; }
  const ZygoteSpec& spec() const { return spec_; }

  // Called once for each start that succeeds.
  std::function<void()> on_ready;

 private:
  enum class State { kStopped, kStarting, kReady, kWaiting };  // kWaiting: for the back-off
  struct Pending {
    LineChannel channel;
    LaneReady ready;
  };

  absl::Status Launch();
  void Read();
  void Handle(const nlohmann::json& message);
  void Ended();
  void SendRequests();
  void FailAll(const absl::Status& status);

  EventLoop* loop_;
  ZygoteSpec spec_;
  State state_ = State::kStopped;
  LineChannel channel_;
  pid_t pid_ = 0;
  int failures_ = 0;
  std::string error_;  // why the last start failed
  EventLoop::TimerId timer_ = 0;
  int last_lane_ = 0;
  std::vector<LaneReady> waiting_;
  std::map<int, Pending> pending_;
};

}  // namespace dynbench::worker
