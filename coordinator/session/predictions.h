// How long an experiment is expected to take, from what earlier ones took: of the same series, else
// of the model, else of the suite. Begins with the store's history (store::LoadDurations) and
// learns from every result that lands. Thread-safe.
//
// Quantiles are of the newest 15 durations of a series or model and 500 of a suite, by linear
// interpolation between order statistics (Hyndman and Fan's type 7). Fewer than 5 say little about
// the tail, so the 90 % quantile is then at least a quarter above the median.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/mutex.h"
#include "common/plan/experiment.h"
#include "common/plan/suite.h"
#include "common/store/queries.h"
#include "coordinator/session/newest.h"
#include "coordinator/session/typical_compile.h"

namespace dynbench::session {

struct Prediction {
  enum class Basis { kSeries, kModel, kSuite, kNothing };
  Basis basis = Basis::kNothing;
  double p50_s = 0;
  double p90_s = 0;
  // By which it is placed. A model that was never measured here counts as what its suite's file
  // says of it, in proportion; one of which it says nothing may be any of its suite, also one of
  // the longest: begun early it harms nobody, begun last it may stretch the night by all it takes.
  // So it counts as one of the longest hundredth.
  double place_s = 0;
  double compile_weight = 0;  // TypicalCompile::Of
};

// Where the durations of an experiment are kept; made once for each, since a series' key is a hash
// of the whole experiment.
struct PredictionKeys {
  std::string series, model, suite;
};
PredictionKeys PredictionKeysOf(const plan::Experiment& experiment);
PredictionKeys PredictionKeysOf(const store::PastDuration& past);

class Predictions {
 public:
  // What is assumed of an experiment that nothing is known of; balanced partitions only need the
  // ratio between experiments, so the figure matters little.
  static constexpr double kUnknownSeconds = 60;

  // Of a suite that is installed here; a user's own comes with its request, and counts for that job
  // alone (`own` below), whatever it is called.
  void LearnTypical(const plan::Suite& suite) EXCLUDES(mu_);
  // Oldest first.
  void Load(const std::vector<store::PastDuration>& past) EXCLUDES(mu_);
  // `worker` measured it; none: unknown.
  void Observe(const PredictionKeys& keys, double seconds, const WorkerId& worker = {})
      EXCLUDES(mu_);
  void Observe(const plan::Experiment& experiment, double seconds, const WorkerId& worker = {}) {
    Observe(PredictionKeysOf(experiment), seconds, worker);
  }

  // Basis kNothing: kUnknownSeconds. `own`: what the file of the job's own suite says; null: its
  // suite is an installed one.
  Prediction Predict(const plan::Experiment& experiment, const TypicalCompile* own = nullptr) const
      EXCLUDES(mu_);
  // The median; nullopt: nothing like it was ever measured.
  std::optional<double> Known(const plan::Experiment& experiment) const EXCLUDES(mu_);
  double Expected(const plan::Experiment& experiment) const EXCLUDES(mu_) {
    return Predict(experiment).p50_s;
  }
  // The worker that measured this series last; none: nobody did.
  WorkerId Home(const plan::Experiment& experiment) const EXCLUDES(mu_);

 private:
  bool Find(const std::string& key, Prediction* prediction) const REQUIRES(mu_);
  // Null: nothing is known of the suite.
  const TypicalCompile* Typical(const plan::Experiment& experiment, const TypicalCompile* own) const
      REQUIRES(mu_);

  mutable Mutex mu_;
  std::unordered_map<std::string, Newest<double>> seconds_ GUARDED_BY(mu_);  // by key
  std::map<std::string, TypicalCompile> typical_ GUARDED_BY(mu_);            // by suite
  std::unordered_map<std::string, WorkerId> homes_ GUARDED_BY(mu_);          // by key of a series
};

}  // namespace dynbench::session
