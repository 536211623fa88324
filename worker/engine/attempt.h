// One attempt on one lane, from `run` to the moment when nothing of its process tree is left. As it
// is, it speaks with the runner; ProgramAttempt runs any other program on a lane for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "worker/engine/engine.h"
#include "worker/engine/lane.h"
#include "worker/engine/outcome.h"
#include "worker/process/event_loop.h"
#include "worker/process/log_capture.h"

namespace dynbench::worker {

// Belongs to its event loop's thread.
class Attempt {
 public:
  // `ended` is the last call: the lane comes back (null when it is lost).
  using Ended = std::function<void(std::unique_ptr<Lane>)>;

  Attempt(EventLoop* loop, AttemptSpec spec, AttemptObserver observer, MonotonicTime asked_at);
  virtual ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void Run(std::unique_ptr<Lane> lane, Ended ended);
  void Cancel(const std::string& reason);
  // For another one's window: all at once. False when somebody still runs.
  static bool Freeze(const std::vector<Attempt*>& attempts);
  void Thaw();

  const AttemptSpec& spec() const { return spec_; }
  pid_t lane_pid() const { return lane_ ? lane_->pid() : 0; }

  // "experiment.lease", as the protocol with the runner writes it.
  static std::string IdText(const AttemptId& id);

 protected:
  // The message that starts it; three descriptors go beside it.
  virtual nlohmann::json RunMessage() const;
  // False while something is still waited for; Launch is called again when it came.
  virtual bool MayStart() { return true; }
  virtual void OnSpawned() {}
  virtual void OnOutput(std::string_view /*bytes*/) {}
  // What the attempt amounts to, once nothing of its tree is left. `reported` came from the child.
  virtual plan::Result MakeResult(const Ending& ending, std::optional<plan::Result> reported,
                                  const std::string& log);

  // Sends `run` when lane, freezer and MayStart allow it.
  void Launch();
  void BeginPhase(plan::Phase phase, int64_t begin_ns);
  const AttemptObserver& observer() const { return observer_; }
  EventLoop* loop() const { return loop_; }
  std::weak_ptr<bool> alive() const { return alive_; }

 private:
  struct Span {
    int64_t begin_ns, end_ns;
  };
  struct PhaseStart {
    plan::Phase phase;
    int64_t begin_ns;
  };

  // Before others' trees are stopped with it. Null: there is no tree to stop, and `still` says
  // whether nothing of it runs.
  TreeFreezer* TreeToFreeze(bool* still);
  void SendRun();
  void Say(const nlohmann::json& message);
  void SendKept();
  void HearLane(const nlohmann::json& message);
  void ReadControl();
  void HearChild(const nlohmann::json& message);
  void HearPhase(const nlohmann::json& message);
  void GiveWindow(int64_t flags);
  void Look();
  void CheckDeadline();
  void Kill(int64_t grace_ms);
  bool EndNow();
  void Exited(const nlohmann::json& message);
  void LaneLost();
  void Conclude();
  void TakeOutFrozenSpans(plan::Result* result) const;
  int64_t FrozenNs(int64_t begin_ns, int64_t end_ns) const;
  void CloseControl();

  EventLoop* loop_;
  AttemptSpec spec_;
  AttemptObserver observer_;
  Ended ended_;
  std::unique_ptr<Lane> lane_;
  LineChannel control_;
  LogPump pump_;
  EventLoop::TimerId deadline_timer_ = 0;
  EventLoop::TimerId kill_timer_ = 0;
  EventLoop::TimerId send_timer_ = 0;
  int64_t asked_ns_;        // when the engine was asked for it
  int64_t started_ns_ = 0;  // when the lane was
  int64_t result_ns_ = 0;
  std::vector<PhaseStart> phases_;
  std::vector<Span> frozen_;
  std::vector<Span> untold_;      // of the former: stopped for others since the last `go`
  int64_t frozen_since_ns_ = 0;   // 0: not frozen
  int64_t waiting_since_ns_ = 0;  // for the window; 0: not
  Ending ending_;
  bool sent_ = false;  // `run` has been
  bool held_ = false;  // frozen before it was
  bool killing_ = false;
  int64_t killed_ns_ = 0;    // when the lane was told to
  bool concluding_ = false;  // its tree is gone; what is still read changes no timer
  std::optional<plan::Result> result_;
  std::string spawn_error_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dynbench::worker
