// From an exception in a phase to outcome, status word and blame (the table in
// docs/architecture.md, section 10). Pure.
#pragma once

#include <string>

namespace dynbench::runner {

// What failures.describe() says of an exception.
struct Failure {
  std::string kind;  // capability, option, download, no_space, oom, device_lost, gpu_hang,
                     // guard_miss, not_implemented, window, other
  std::string error;
  std::string detail;
};

// Which side a timed call was of, when there is one.
enum class SideInForce { kNone, kEager, kCompiled };

struct Judgement {
  std::string outcome;
  std::string status;
  std::string blame;
};

// `phase` is the word of the phase that the exception ended.
Judgement Judge(const Failure& failure, const std::string& phase, SideInForce side);

// Outcome and blame of an accuracy status ("pass", "fail_accuracy", "eager_two_runs_differ", …).
Judgement JudgeAccuracy(const std::string& status, const Failure& failure);

}  // namespace dynbench::runner
