#include "worker/runner/failures.h"

#include <map>

namespace dynbench::runner {
namespace {

// What no model and no compiler can be blamed for: the attempt is repeated elsewhere.
bool IsInfrastructure(const std::string& kind) {
  return kind == "no_space" || kind == "device_lost" || kind == "gpu_hang" || kind == "download";
}

Judgement Lost(const std::string& kind) {
  static const std::map<std::string, std::string> kStatus = {{"no_space", "no_space"},
                                                             {"device_lost", "device_lost"},
                                                             {"gpu_hang", "gpu_hang"},
                                                             {"download", "download_failed"}};
  return {"lost", kStatus.at(kind), "infrastructure"};
}

Judgement EagerFailed(const Failure& failure) {
  const bool oom = failure.kind == "oom";
  return {"failed", oom ? "eager_1st_run_OOM" : "eager_1st_run_fail", "eager"};
}

}  // namespace

Judgement Judge(const Failure& failure, const std::string& phase, SideInForce side) {
  if (IsInfrastructure(failure.kind)) return Lost(failure.kind);
  if (failure.kind == "capability") return {"skipped", "skipped", "none"};
  if (failure.kind == "option") return {"failed", "option_refused", "none"};
  if (failure.kind == "window") return {"failed", "window_invalid", "model"};
  if (phase == "prepare") return {"lost", "not_prepared", "infrastructure"};
  if (phase == "load") {
    const bool unsupported = failure.kind == "not_implemented";
    return {"failed", unsupported ? "model_fail_to_load" : "eager_fail_to_run", "model"};
  }
  if (phase == "eager" || phase == "reference" || side == SideInForce::kEager) {
    return EagerFailed(failure);
  }
  if (failure.kind == "guard_miss") return {"failed", "guard_miss", "compiler"};
  return {"failed", failure.kind == "oom" ? "OOM" : "fail_to_run", "compiler"};
}

Judgement JudgeAccuracy(const std::string& status, const Failure& failure) {
  if (status == "pass" || status == "pass_due_to_skip") return {"passed", status, "none"};
  if (IsInfrastructure(failure.kind)) return Lost(failure.kind);
  if (failure.kind == "capability") return {"skipped", "skipped", "none"};
  const bool eager = status.compare(0, 6, "eager_") == 0;
  return {"failed", status, eager ? "eager" : "compiler"};
}

}  // namespace dynbench::runner
