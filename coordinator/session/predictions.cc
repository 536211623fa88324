#include "coordinator/session/predictions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynbench::session {
namespace {

constexpr size_t kKept = 15;  // newest durations per key: a median that follows a change in a night

// The keys of store::LoadDurations.
std::string Tail(const plan::Experiment& e) {
  return absl::StrCat("/", std::string(ToString(e.test)), "/", std::string(ToString(e.start)));
}
std::string SuiteKey(const plan::Experiment& e) { return absl::StrCat("suite:", e.suite, Tail(e)); }
std::string ModelKey(const plan::Experiment& e) {
  return absl::StrCat("model:", e.suite, "/", e.model, Tail(e));
}
std::string SeriesKeyOf(const plan::Experiment& e) {
  return absl::StrCat("series:", plan::SeriesKey(e));
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void Predictions::Load(const std::map<std::string, double>& durations) {
  MutexLock lock(mu_);
  for (const auto& [key, seconds] : durations) seconds_[key] = {seconds};
}

PredictionKeys PredictionKeysOf(const plan::Experiment& experiment) {
  return {SeriesKeyOf(experiment), ModelKey(experiment), SuiteKey(experiment)};
}

void Predictions::Observe(const PredictionKeys& keys, double seconds) {
  if (seconds <= 0) return;
  MutexLock lock(mu_);
  for (const std::string* key : {&keys.series, &keys.model, &keys.suite}) {
    std::vector<double>& kept = seconds_[*key];
    kept.push_back(seconds);
    if (kept.size() > kKept) kept.erase(kept.begin());
  }
}

std::optional<double> Predictions::Find(const std::string& key) const {
  MutexLock lock(mu_);
  const auto found = seconds_.find(key);
  if (found == seconds_.end()) return std::nullopt;
  return Median(found->second);
}

std::optional<double> Predictions::Known(const plan::Experiment& experiment) const {
  // A suite without history has no model and no series with one, and keys of series are costly.
  const std::optional<double> of_suite = Find(SuiteKey(experiment));
  if (!of_suite) return std::nullopt;
  const std::optional<double> of_model = Find(ModelKey(experiment));
  if (!of_model) return of_suite;
  const std::optional<double> of_series = Find(SeriesKeyOf(experiment));
  return of_series ? of_series : of_model;
}

}  // namespace dynbench::session
