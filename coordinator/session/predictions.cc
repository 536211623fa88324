#include "coordinator/session/predictions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynbench::session {
namespace {

constexpr size_t kKept = 15;  // newest durations per key: a median that follows a change in a night
constexpr size_t kKeptOfSuite = 500;
constexpr size_t kFew = 5;
constexpr double kFewTail = 1.25;

std::string Tail(const std::string& test, const std::string& start) {
  return absl::StrCat("/", test, "/", start);
}
std::string Tail(const plan::Experiment& e) {
  return Tail(std::string(ToString(e.test)), std::string(ToString(e.start)));
}
std::string SuiteKey(const std::string& suite, const std::string& tail) {
  return absl::StrCat("suite:", suite, tail);
}
std::string ModelKey(const std::string& suite, const std::string& model, const std::string& tail) {
  return absl::StrCat("model:", suite, "/", model, tail);
}
std::string SeriesKeyOf(const std::string& series) { return absl::StrCat("series:", series); }
std::string SeriesKeyOf(const plan::Experiment& e) { return SeriesKeyOf(plan::SeriesKey(e)); }

double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const size_t low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

void Predictions::LearnTypical(const plan::Suite& suite) {
  const auto told = [](const plan::ModelRules& model) { return model.typical_compile_s > 0; };
  if (std::none_of(suite.models.begin(), suite.models.end(), told)) return;
  MutexLock lock(mu_);
  Typical& typical = typical_[suite.name];
  for (const plan::ModelRules& model : suite.models) {
    if (told(model)) typical.of_model[model.name] = model.typical_compile_s;
  }
  std::vector<double> all;
  for (const auto& [model, seconds] : typical.of_model) all.push_back(seconds);
  std::sort(all.begin(), all.end());
  typical.median = Quantile(all, 0.5);
  typical.longest = all.back();
}

void Predictions::Load(const std::vector<store::PastDuration>& past) {
  for (const store::PastDuration& p : past) Observe(PredictionKeysOf(p), p.seconds, p.worker);
}

PredictionKeys PredictionKeysOf(const store::PastDuration& p) {
  const std::string tail = Tail(p.test, p.start);
  return {SeriesKeyOf(p.series), ModelKey(p.suite, p.model, tail), SuiteKey(p.suite, tail)};
}

PredictionKeys PredictionKeysOf(const plan::Experiment& e) {
  const std::string tail = Tail(e);
  return {SeriesKeyOf(e), ModelKey(e.suite, e.model, tail), SuiteKey(e.suite, tail)};
}

void Predictions::Observe(const PredictionKeys& keys, double seconds, const WorkerId& worker) {
  MutexLock lock(mu_);
  if (worker) homes_[keys.series] = worker;
  if (seconds <= 0) return;
  seconds_[keys.series].Add(seconds, kKept);
  seconds_[keys.model].Add(seconds, kKept);
  seconds_[keys.suite].Add(seconds, kKeptOfSuite);
}

bool Predictions::Find(const std::string& key, Prediction* prediction) const {
  const auto found = seconds_.find(key);
  if (found == seconds_.end()) return false;
  std::vector<double> sorted = found->second.values();
  std::sort(sorted.begin(), sorted.end());
  prediction->p50_s = Quantile(sorted, 0.5);
  prediction->p90_s = Quantile(sorted, 0.9);
  prediction->place_s = prediction->p50_s;
  if (sorted.size() < kFew) {
    prediction->p90_s = std::max(prediction->p90_s, kFewTail * prediction->p50_s);
  }
  if (prediction->basis == Prediction::Basis::kSuite) prediction->place_s = Quantile(sorted, 0.99);
  return true;
}

void Predictions::PlaceAsTypical(const plan::Experiment& e, Prediction* prediction) const {
  const auto suite = typical_.find(e.suite);
  if (suite == typical_.end()) return;
  const auto model = suite->second.of_model.find(e.model);
  const bool told = model != suite->second.of_model.end();
  // The suite's own history knows its longest better than the file does.
  if (!told && prediction->basis == Prediction::Basis::kSuite) return;
  prediction->place_s =
      (told ? model->second : suite->second.longest) / suite->second.median * prediction->p50_s;
}

Prediction Predictions::Predict(const plan::Experiment& e) const {
  Prediction prediction{Prediction::Basis::kNothing, kUnknownSeconds, kUnknownSeconds,
                        kUnknownSeconds};
  const std::string tail = Tail(e);
  MutexLock lock(mu_);
  // A suite without history has no model and no series with one, and keys of series are costly.
  const std::string suite = SuiteKey(e.suite, tail);
  if (seconds_.count(suite) == 0) {
    PlaceAsTypical(e, &prediction);
    return prediction;
  }
  prediction.basis = Prediction::Basis::kModel;
  if (Find(ModelKey(e.suite, e.model, tail), &prediction)) {
    if (Find(SeriesKeyOf(e), &prediction)) prediction.basis = Prediction::Basis::kSeries;
    return prediction;
  }
  prediction.basis = Prediction::Basis::kSuite;
  Find(suite, &prediction);
  PlaceAsTypical(e, &prediction);
  return prediction;
}

std::optional<double> Predictions::Known(const plan::Experiment& experiment) const {
  const Prediction prediction = Predict(experiment);
  if (prediction.basis == Prediction::Basis::kNothing) return std::nullopt;
  return prediction.p50_s;
}

WorkerId Predictions::Home(const plan::Experiment& experiment) const {
  MutexLock lock(mu_);
  if (homes_.empty()) return {};
  const auto found = homes_.find(SeriesKeyOf(experiment));
  return found == homes_.end() ? WorkerId() : found->second;
}

}  // namespace dynbench::session
