#include "coordinator/session/predictions.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace dynbench::session {
namespace {

constexpr size_t kKept = 15;  // newest durations per key: a median that follows a change in a night

// The keys of store::LoadDurations, best first.
std::array<std::string, 3> Keys(const plan::Experiment& e) {
  const std::string tail =
      absl::StrCat("/", std::string(ToString(e.test)), "/", std::string(ToString(e.start)));
  return {absl::StrCat("series:", plan::SeriesKey(e)),
          absl::StrCat("model:", e.suite, "/", e.model, tail),
          absl::StrCat("suite:", e.suite, tail)};
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void Predictions::Load(std::map<std::string, double> durations) {
  MutexLock lock(mu_);
  for (const auto& [key, seconds] : durations) seconds_[key] = {seconds};
}

void Predictions::Observe(const plan::Experiment& experiment, double seconds) {
  if (seconds <= 0) return;
  const auto keys = Keys(experiment);
  MutexLock lock(mu_);
  for (const std::string& key : keys) {
    std::vector<double>& kept = seconds_[key];
    kept.push_back(seconds);
    if (kept.size() > kKept) kept.erase(kept.begin());
  }
}

std::optional<double> Predictions::Known(const plan::Experiment& experiment) const {
  const auto keys = Keys(experiment);
  MutexLock lock(mu_);
  for (const std::string& key : keys) {
    const auto found = seconds_.find(key);
    if (found != seconds_.end()) return Median(found->second);
  }
  return std::nullopt;
}

}  // namespace dynbench::session
