// Every engine of a worker behind one interface: each attempt goes to the one that its experiment
// names.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "worker/engine/engine.h"
#include "worker/engine/native_engine.h"
#include "worker/engine/program_engine.h"
#include "worker/process/owned_processes.h"

namespace dynbench::worker {

// Thread-safe as the engines are; owns them.
class EngineSet : public Engine {
 public:
  explicit EngineSet(const NativeEngineOptions& options);

  void SetEnvironments(const std::map<std::string, Environment>& environments);

  // Whether experiments of the environment could begin: its zygote starts and gives a lane.
  // `done` comes on the engine's thread.
  void Probe(const std::string& environment, std::function<void(absl::Status)> done) {
    native_.Probe(environment, std::move(done));
  }
  // Children of this process that engines must leave alone.
  OwnedProcesses& processes() { return *processes_; }

  // An engine that this version does not know returns the attempt.
  void Start(AttemptSpec spec, AttemptObserver observer) override;
  void Cancel(const AttemptId& attempt, const std::string& reason) override;
  void Freeze(std::vector<AttemptId> attempts, std::function<void(bool)> done) override;
  void Thaw(std::vector<AttemptId> attempts) override;

 private:
  const std::shared_ptr<OwnedProcesses> processes_ = std::make_shared<OwnedProcesses>();
  NativeEngine native_;
  ProgramEngine programs_;  // ends first: the native engine's end kills all children that are left
};

}  // namespace dynbench::worker
