// Every engine of a worker behind one interface: each attempt goes to the one that its experiment
// names.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "worker/engine/engine.h"
#include "worker/engine/native_engine.h"
#include "worker/engine/program_engine.h"
#include "worker/process/owned_processes.h"

namespace dynbench::worker {

// Thread-safe as the engines are; owns them.
class EngineSet : public Engine {
 public:
  explicit EngineSet(NativeEngineOptions options);

  void SetEnvironments(const std::map<std::string, Environment>& environments);

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
