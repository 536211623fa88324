// How long an experiment is expected to take, from what earlier ones took: of the same series, else
// of the model, else of the suite. Begins with the store's history (store::LoadDurations) and
// learns from every result that lands. Thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/plan/experiment.h"

namespace dynbench::session {

// Where the durations of an experiment are kept; made once for each, since a series' key is a hash
// of the whole experiment.
struct PredictionKeys {
  std::string series, model, suite;
};
PredictionKeys PredictionKeysOf(const plan::Experiment& experiment);

class Predictions {
 public:
  // What is assumed of an experiment that nothing is known of; balanced partitions only need the
  // ratio between experiments, so the figure matters little.
  static constexpr double kUnknownSeconds = 60;

  void Load(const std::map<std::string, double>& durations) EXCLUDES(mu_);
  void Observe(const PredictionKeys& keys, double seconds) EXCLUDES(mu_);
  void Observe(const plan::Experiment& experiment, double seconds) {
    Observe(PredictionKeysOf(experiment), seconds);
  }

  // nullopt: nothing like it was ever measured.
  std::optional<double> Known(const plan::Experiment& experiment) const EXCLUDES(mu_);
  double Expected(const plan::Experiment& experiment) const {
    return Known(experiment).value_or(kUnknownSeconds);
  }

 private:
  std::optional<double> Find(const std::string& key) const EXCLUDES(mu_);

  mutable Mutex mu_;
  // Per key the newest durations; their median is the prediction. The store's median counts as one.
  std::map<std::string, std::vector<double>> seconds_ GUARDED_BY(mu_);
};

}  // namespace dynbench::session
