// The engines `script` and `command`: any program, one process tree an attempt, on lanes for
// programs (worker/process/program_lane.h). Needs the environment's python and no zygote.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/configuration.h"
#include "worker/engine/engine.h"
#include "worker/engine/program_attempt.h"
#include "worker/host/environment.h"
#include "worker/process/event_loop.h"
#include "worker/process/owned_processes.h"

namespace dynbench::worker {

struct ProgramEngineOptions {
  std::string state_dir;  // the scripts' support module is kept below it
  Variables variables;    // the worker's own; an allow-list of them passes
  // Resolves a profile's name. Called on the engine's thread.
  std::function<absl::StatusOr<plan::LaunchProfile>(const std::string&)> profile;
  // Lanes are kept here, so that another engine's sweep spares them.
  std::shared_ptr<OwnedProcesses> processes = std::make_shared<OwnedProcesses>();
  // Kills what a lane that was killed left behind; called on the engine's thread when the attempt
  // on it ends, and again when the lane is reaped: only then its children are below this process.
  std::function<void()> sweep = nullptr;
  // The program that is a lane when its arguments are kProgramLaneWord and a number.
  std::string lane_program = "/proc/self/exe";
};

// Owns a thread and its lanes. Methods are thread-safe; observers are called on its thread.
class ProgramEngine : public Engine {
 public:
  // Makes this process a subreaper.
  explicit ProgramEngine(ProgramEngineOptions options);
  // Ends every attempt (observers hear nothing more) and lane; nothing is left running.
  ~ProgramEngine() override;

  void SetEnvironments(std::map<std::string, Environment> environments);

  void Start(AttemptSpec spec, AttemptObserver observer) override;
  void Cancel(const AttemptId& attempt, const std::string& reason) override;
  void Freeze(std::vector<AttemptId> attempts, std::function<void(bool)> done) override;
  void Thaw(std::vector<AttemptId> attempts) override;

 private:
  absl::Status Begin(AttemptSpec spec, const AttemptObserver& observer, MonotonicTime asked_at);
  absl::StatusOr<Program> Prepare(const AttemptSpec& spec, runner::PathAliases* aliases);
  absl::StatusOr<std::unique_ptr<Lane>> TakeLane();
  void Ended(const AttemptId& id, std::unique_ptr<Lane> lane);
  void ReapLane(pid_t pid, int pidfd);
  void EndEverything();

  const ProgramEngineOptions options_;
  const std::string support_dir_;
  EventLoop loop_;
  // All of these belong to the loop's thread.
  std::map<std::string, Environment> environments_;
  std::map<AttemptId, std::shared_ptr<ProgramAttempt>> attempts_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::map<pid_t, UniqueFd> lanes_;  // pidfds: readable when the lane has ended
  std::thread thread_;
};

}  // namespace dynbench::worker
