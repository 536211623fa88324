#include "common/judge/rounds.h"

#include <cmath>

#include "common/base/window_flags.h"
#include "common/judge/metrics.h"

namespace dynbench::judge {
namespace {

using plan::Outcome;

std::string Ended(const char* side, const plan::Result& result) {
  std::string text = std::string(side) + ": " + std::string(plan::ToString(result.outcome));
  return result.error.empty() ? text : text + ": " + result.error;
}

bool Measured(const plan::Result& result) {
  return result.outcome == Outcome::kPassed || result.outcome == Outcome::kFailed;
}

// Why the side counts for nothing; empty: it counts.
std::string Trouble(const char* side, const plan::Result& result) {
  if (!Measured(result) || result.blame == plan::Blame::kInfrastructure) {
    return Ended(side, result);
  }
  const std::string words =
      WindowFlagWords(result.metrics.window_flags.value_or(0) & kDisturbsRound);
  return words.empty() ? "" : std::string(side) + ": in its window " + words;
}

}  // namespace

RoundJudgement JudgeRound(const RoundSide& base, const RoundSide& fresh) {
  if (base.result == nullptr || fresh.result == nullptr) return {};
  const auto unbegun = [](const RoundSide& side) {
    const Outcome outcome = side.result->outcome;
    return !side.lease && (outcome == Outcome::kSkipped || outcome == Outcome::kCancelled);
  };
  if (unbegun(base) && unbegun(fresh)) return {RoundState::kNotNeeded, base.result->error};
  std::string why = Trouble("base", *base.result);
  if (why.empty()) why = Trouble("new", *fresh.result);
  if (why.empty() && base.lease != fresh.lease) {
    why = "its sides were not measured one after the other (leases " +
          std::to_string(base.lease.value) + " and " + std::to_string(fresh.lease.value) + ")";
  }
  if (!why.empty()) return {RoundState::kDisturbed, why};
  return {RoundState::kCounts, ""};
}

RoundFigures FiguresOf(const plan::Result& base, const plan::Result& fresh) {
  RoundFigures figures;
  figures.base_passed = base.outcome == Outcome::kPassed;
  figures.fresh_passed = fresh.outcome == Outcome::kPassed;
  const auto b = ValueOf(Metric::kCompiledLatency, base);
  const auto f = ValueOf(Metric::kCompiledLatency, fresh);
  if (figures.base_passed && figures.fresh_passed && b && f) figures.change = std::log(*f / *b);
  return figures;
}

}  // namespace dynbench::judge
