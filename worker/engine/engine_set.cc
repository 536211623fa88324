#include "worker/engine/engine_set.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/plan/script_command.h"

namespace dynbench::worker {
namespace {

NativeEngineOptions Sparing(NativeEngineOptions options,
                            const std::shared_ptr<OwnedProcesses>& processes) {
  options.spare = [processes](pid_t pid) { return processes->Owns(pid); };
  return options;
}

ProgramEngineOptions ForPrograms(const NativeEngineOptions& options,
                                 std::shared_ptr<OwnedProcesses> processes, NativeEngine* native) {
  ProgramEngineOptions programs;
  programs.state_dir = options.state_dir;
  programs.variables = options.variables;
  programs.profile = options.profile;
  programs.processes = std::move(processes);
  programs.sweep = [native] { native->Sweep(); };
  return programs;
}

}  // namespace

EngineSet::EngineSet(const NativeEngineOptions& options)
    : native_(Sparing(options, processes_)),
      programs_(ForPrograms(options, processes_, &native_)) {}

void EngineSet::SetEnvironments(const std::map<std::string, Environment>& environments) {
  native_.SetEnvironments(environments);
  programs_.SetEnvironments(environments);
}

void EngineSet::Start(AttemptSpec spec, AttemptObserver observer) {
  const std::string engine = spec.experiment.engine;
  if (engine == plan::kNativeEngine) {
    native_.Start(std::move(spec), std::move(observer));
  } else if (engine == plan::kScriptEngine || engine == plan::kCommandEngine) {
    programs_.Start(std::move(spec), std::move(observer));
  } else if (observer.returned) {
    observer.returned(absl::StrCat("this worker has no engine \"", engine,
                                   "\"; it may be of an older version than the coordinator"));
  }
}

// An engine passes over attempts that are not its own.
void EngineSet::Cancel(const AttemptId& attempt, const std::string& reason) {
  native_.Cancel(attempt, reason);
  programs_.Cancel(attempt, reason);
}

void EngineSet::Freeze(std::vector<AttemptId> attempts, std::function<void(bool)> done) {
  // In this order: what waits here calls only the engine that ends last.
  programs_.Freeze(attempts, [this, attempts, done = std::move(done)](bool programs) {
    native_.Freeze(attempts, [programs, done](bool native) { done(programs && native); });
  });
}

void EngineSet::Thaw(std::vector<AttemptId> attempts) {
  native_.Thaw(attempts);
  programs_.Thaw(std::move(attempts));
}

}  // namespace dynbench::worker
