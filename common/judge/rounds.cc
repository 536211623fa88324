#include "common/judge/rounds.h"

#include <cmath>
#include <cstddef>

#include "common/base/pair_blocks.h"
#include "common/base/window_flags.h"
#include "common/stats/hierarchy.h"
#include "common/stats/stats.h"

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

std::vector<double> BlocksOf(const char* entry, const plan::Result& result) {
  const auto found = result.in_force.find(entry);
  return found == result.in_force.end() ? std::vector<double>() : ReadBlockMedians(found->second);
}

// Logarithms of the metric's value in each block; empty: it has no blocks.
std::vector<double> BlockLogs(Metric metric, const plan::Result& result) {
  std::vector<double> logs;
  const auto eager = BlocksOf(kEagerBlocks, result), compiled = BlocksOf(kCompiledBlocks, result);
  if (eager.size() != compiled.size()) return logs;
  for (size_t i = 0; i < eager.size(); ++i) {
    if (metric == Metric::kCompiledLatency) logs.push_back(std::log(compiled[i]));
    if (metric == Metric::kEagerLatency) logs.push_back(std::log(eager[i]));
    if (metric == Metric::kSpeedup) logs.push_back(std::log(eager[i] / compiled[i]));
  }
  return logs;
}

}  // namespace

std::optional<RoundDifference> DifferenceOf(Metric metric, const plan::Result& base,
                                            const plan::Result& fresh) {
  const auto b = ValueOf(metric, base), f = ValueOf(metric, fresh);
  if (!b || !f) return std::nullopt;
  RoundDifference difference{std::log(*b), std::log(*f), std::log(*f / *b), std::nullopt};
  const auto base_blocks = BlockLogs(metric, base), fresh_blocks = BlockLogs(metric, fresh);
  if (base_blocks.size() < 2 || base_blocks.size() != fresh_blocks.size()) return difference;
  std::vector<double> changes;
  for (size_t i = 0; i < base_blocks.size(); ++i) {
    changes.push_back(fresh_blocks[i] - base_blocks[i]);
  }
  const double middle = (difference.base + difference.fresh) / 2;
  difference.change = stats::Median(changes);
  difference.base = middle - difference.change / 2;
  difference.fresh = middle + difference.change / 2;
  difference.sampling_variance = stats::MedianVarianceOfLogs(changes);
  return difference;
}

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
    why = "its sides were not measured together (leases " + std::to_string(base.lease.value) +
          " and " + std::to_string(fresh.lease.value) + ")";
  }
  if (!why.empty()) return {RoundState::kDisturbed, why};
  return {RoundState::kCounts, ""};
}

RoundFigures FiguresOf(const plan::Result& base, const plan::Result& fresh) {
  RoundFigures figures;
  figures.base_passed = base.outcome == Outcome::kPassed;
  figures.fresh_passed = fresh.outcome == Outcome::kPassed;
  const auto difference = DifferenceOf(Metric::kCompiledLatency, base, fresh);
  if (difference) figures.change = difference->change;
  return figures;
}

}  // namespace dynbench::judge
