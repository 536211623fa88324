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
  TypicalCompile typical(suite);
  if (!typical.says_anything()) return;
  MutexLock lock(mu_);
  typical_[suite.name] = std::move(typical);
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

const TypicalCompile* Predictions::Typical(const plan::Experiment& e,
                                           const TypicalCompile* own) const {
  if (own != nullptr) return own->says_anything() ? own : nullptr;
  const auto suite = typical_.find(e.suite);
  return suite == typical_.end() ? nullptr : &suite->second;
}

Prediction Predictions::Predict(const plan::Experiment& e, const TypicalCompile* own) const {
  Prediction prediction{Prediction::Basis::kNothing, kUnknownSeconds, kUnknownSeconds,
                        kUnknownSeconds};
  const std::string tail = Tail(e);
  MutexLock lock(mu_);
  const TypicalCompile* typical = Typical(e, own);
  if (typical != nullptr) prediction.compile_weight = typical->Of(e.model);
  // A suite without history has no model and no series with one, and keys of series are costly.
  const std::string suite = SuiteKey(e.suite, tail);
  if (seconds_.count(suite) > 0) {
    prediction.basis = Prediction::Basis::kModel;
    if (Find(ModelKey(e.suite, e.model, tail), &prediction)) {
      if (Find(SeriesKeyOf(e), &prediction)) prediction.basis = Prediction::Basis::kSeries;
      return prediction;
    }
    prediction.basis = Prediction::Basis::kSuite;
    Find(suite, &prediction);
  }
  if (typical == nullptr) return prediction;
  const double weight = prediction.compile_weight;
  // The suite's own history knows its longest better than the file does.
  if (weight <= 0 && prediction.basis == Prediction::Basis::kSuite) return prediction;
  prediction.place_s = (weight > 0 ? weight : typical->longest()) * prediction.p50_s;
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
