// The native engine: drives dynbench-runner (worker/runner/PROTOCOL.md). One zygote for each
// (environment, launch profile), further ones where an experiment asks for them, a few idle lanes
// kept ready, one attempt on each busy lane.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/configuration.h"
#include "worker/engine/attempt.h"
#include "worker/engine/engine.h"
#include "worker/engine/zygote.h"
#include "worker/host/environment.h"
#include "worker/process/event_loop.h"

namespace dynbench::worker {

struct NativeEngineOptions {
  std::string state_dir;   // zygotes keep their folders below it
  std::vector<int> cores;  // of the zygotes and of everything below them
  Variables variables;     // the worker's own; an allow-list of them passes
  // Resolves a profile's name. Called on the engine's thread.
  std::function<absl::StatusOr<plan::LaunchProfile>(const std::string&)> profile;
  // Whether a direct child of this process belongs to somebody else. Called on the engine's thread.
  std::function<bool(pid_t)> spare = nullptr;
};

// Owns a thread, and every process below this one. Methods are thread-safe; observers are called on
// the engine's thread.
class NativeEngine : public Engine {
 public:
  // Makes this process a subreaper.
  explicit NativeEngine(NativeEngineOptions options);
  // Ends every attempt (observers hear nothing more), lane and zygote; nothing is left running.
  ~NativeEngine() override;

  // The environments that can be run. Starts the `default` profile's zygote of each new one; stops
  // those of environments that are gone or changed, once their attempts have ended.
  void SetEnvironments(std::map<std::string, Environment> environments);

  void Start(AttemptSpec spec, AttemptObserver observer) override;
  void Cancel(const AttemptId& attempt, const std::string& reason) override;
  void Freeze(std::vector<AttemptId> attempts, std::function<void(bool)> done) override;
  void Thaw(std::vector<AttemptId> attempts) override;

  // Whether the environment's zygote of the default profile starts and gives a lane, which is kept.
  void Probe(const std::string& environment, std::function<void(absl::Status)> done);

  // Kills and reaps what became this process's child because its own parent died.
  void Sweep();

  // Where inductor's precompiled headers of an environment are kept.
  static std::string PrecompiledHeadersDir(const std::string& state_dir,
                                           const Environment& environment);

 private:
  struct Warm;  // a zygote with its idle lanes

  // `instance`: 0 is the zygote that is always there; further ones begin when they are asked for
  // (the rounds of a pair), and the one that was not asked for longest ends when there are many.
  absl::StatusOr<Warm*> WarmFor(const Environment& environment, const std::string& profile,
                                int instance);
  void EndSpareZygotes();
  void KeepOneLaneReady(const std::string& key);
  void Begin(const std::string& key, const std::shared_ptr<Attempt>& attempt,
             std::function<void(std::string)> returned);
  void RunOn(const std::string& key, const std::shared_ptr<Attempt>& attempt,
             std::unique_ptr<Lane> lane);
  void GiveBack(const std::string& key, std::unique_ptr<Lane> lane);
  void SweepOrphans();
  void EndEverything();

  const NativeEngineOptions options_;
  EventLoop loop_;
  // All of these belong to the loop's thread.
  std::map<std::string, Environment> environments_;
  std::map<std::string, std::unique_ptr<Warm>> warm_;  // by environment hash and profile
  int64_t uses_ = 0;
  std::map<AttemptId, std::shared_ptr<Attempt>> attempts_;
  // Those that still wait for a lane.
  struct Waiting {
    AttemptObserver observer;
    std::shared_ptr<Attempt> attempt;
  };
  std::map<AttemptId, Waiting> waiting_;
  std::thread thread_;
};

}  // namespace dynbench::worker
