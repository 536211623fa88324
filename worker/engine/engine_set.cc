#include "worker/engine/engine_set.h"

#include <atomic>
#include <memory>
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
  // Each engine is told now: through the other one's thread, which may be busy for seconds, a Thaw
  // that comes after this would overtake it.
  struct Answers {
    std::atomic<int> missing{2};
    std::atomic<bool> all{true};
  };
  const auto answer = [answers = std::make_shared<Answers>(), done = std::move(done)](bool all) {
    if (!all) answers->all = false;
    if (--answers->missing == 0) done(answers->all);
  };
  native_.Freeze(attempts, answer);
  programs_.Freeze(std::move(attempts), answer);
}

void EngineSet::Thaw(std::vector<AttemptId> attempts) {
  native_.Thaw(attempts);
  programs_.Thaw(std::move(attempts));
}

}  // namespace dynbench::worker
