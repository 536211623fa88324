#include "coordinator/session/phase_history.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dynbench::session {
namespace {

constexpr size_t kKept = 15;  // as Predictions keeps
constexpr size_t kKeptOfSuite = 500;
constexpr double kSuiteQuantile = 0.99;

bool DependsOnOthers(plan::Phase phase) {
  return phase == plan::Phase::kPrepare || phase == plan::Phase::kReady;
}

// The k-th smallest, k the smallest with at least `q` of the values up to it.
double Quantile(std::vector<float> values, double q) {
  const double rank = std::ceil(q * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

struct PhaseHistory::Level {
  const std::string* key;
  size_t enough;
  int64_t floor_ms;
  double quantile;
  const char* name;
};

void PhaseHistory::Add(const std::string& key, size_t kept,
                       const std::vector<plan::PhaseSpan>& phases) {
  PhaseDurations& of_phase = durations_[key];
  for (const plan::PhaseSpan& span : phases) {
    if (DependsOnOthers(span.phase)) continue;
    Durations& durations = of_phase[static_cast<size_t>(span.phase)];
    durations.seconds.Add(static_cast<float>(span.duration_ns) * 1e-9F, kept);
    durations.learned.reset();
  }
}

void PhaseHistory::Load(const std::vector<store::PastDuration>& past) {
  for (const store::PastDuration& p : past) Observe(PredictionKeysOf(p), p.phases);
}

void PhaseHistory::Observe(const PredictionKeys& keys, const std::vector<plan::PhaseSpan>& phases) {
  hung_.erase(keys.series);
  if (phases.empty()) return;
  Add(keys.series, kKept, phases);
  Add(keys.model, kKept, phases);
  Add(keys.suite, kKeptOfSuite, phases);
}

const LearnedLimit& PhaseHistory::Learned(plan::Phase phase, const Durations& durations,
                                          const Level& level) {
  if (durations.learned) return *durations.learned;
  const std::vector<float>& seconds = durations.seconds.values();
  const double longest_s = Quantile(seconds, level.quantile);
  const auto learned_ms = static_cast<int64_t>(kFactor * longest_s * 1000);
  const std::string of = absl::StrFormat("%s of %d runs of the %s (%.1f s)",
                                         level.quantile < 1 ? "the 99 % quantile" : "the longest",
                                         seconds.size(), level.name, longest_s);
  return durations.learned.emplace(
      LearnedLimit{phase, std::max(level.floor_ms, learned_ms),
                   learned_ms >= level.floor_ms
                       ? absl::StrCat(kFactor, " times ", of)
                       : absl::StrCat("the least limit; ", kFactor, " times ", of, " is less")});
}

std::vector<LearnedLimit> PhaseHistory::LimitsFor(const PredictionKeys& keys,
                                                  int64_t timeout_ms) const {
  std::vector<LearnedLimit> limits;
  if (hung_.count(keys.series) > 0) return limits;
  const Level levels[] = {
      {&keys.series, kEnoughOfSeries, kFloorMs, 1, "series"},
      {&keys.model, kEnoughOfModel, kFloorMs, 1, "model"},
      {&keys.suite, kEnoughOfSuite, kSuiteFloorMs, kSuiteQuantile, "suite"},
  };
  std::array<const PhaseDurations*, std::size(levels)> found = {};
  for (size_t i = 0; i < std::size(levels); ++i) {
    const auto at = durations_.find(*levels[i].key);
    if (at != durations_.end()) found[i] = &at->second;
  }
  for (size_t phase = 0; phase < kPhases; ++phase) {
    for (size_t i = 0; i < std::size(levels); ++i) {
      if (found[i] == nullptr) continue;
      const Durations& durations = (*found[i])[phase];
      if (durations.seconds.values().size() < levels[i].enough) continue;
      const LearnedLimit& learned = Learned(static_cast<plan::Phase>(phase), durations, levels[i]);
      if (learned.limit_ms < timeout_ms) limits.push_back(learned);
      break;
    }
  }
  return limits;
}

}  // namespace dynbench::session
