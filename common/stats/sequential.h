// A test that stops as soon as it knows: rounds of a base and a new process are measured until the
// change is certain, or certainly smaller than what matters. Most models of a night have not
// changed at all, and most real changes are larger than the smallest one looked for; both stop
// early.
//
// A sequential probability ratio test (Wald, "Sequential Tests of Statistical Hypotheses", The
// Annals of Mathematical Statistics 16, 1945) of shift 0 against a shift of +effect or -effect, the
// two weighted alike (Wald's method of weight functions, "Sequential Analysis", 1947, 4.1). The
// noise is not known exactly, so the likelihoods are averaged over a conjugate prior of the
// variance (scaled inverse chi-squared, the one that hierarchy.h fits), which gives
//   log L(shift) = -(d0 + n) / 2 log(d0 s0^2 + sum (x - shift)^2) + constant,
// Student's t instead of the normal. With a known variance (d0 infinite) it is Wald's test.
//
// Stated error rates: a shift of 0 is called a change with probability at most alpha, a shift of
// `effect` is called none with probability at most beta, on average over the prior (Wald's bounds;
// the first is Ville's inequality and holds whenever one looks). docs/statistics.md has the
// simulated rates and sample numbers.
//
// Thread-compatible; pure but for its own sums.
#pragma once

#include <cstddef>

#include "common/stats/hierarchy.h"

namespace dynbench::stats {

enum class Decision {
  kGoOn,
  kHigher,  // the logarithms of new are larger
  kLower,
  kNoChange,   // smaller than the effect, in both directions
  kUndecided,  // rounds_max reached
};

struct SequentialPlan {
  double effect = 0.02;  // smallest shift of logarithms that matters; > 0
  double alpha = 0.003;  // two-sided
  double beta = 0.01;
  // Of one round's value, log(new / base): twice the variance between processes.
  VariancePrior noise;
  size_t rounds_min = 3;
  size_t rounds_max = 30;
};

class SequentialTest {
 public:
  // Preconditions (checked, std::invalid_argument): effect > 0, rates in (0, 0.5), noise with
  // variance and degrees of freedom > 0, 0 < rounds_min <= rounds_max.
  explicit SequentialTest(const SequentialPlan& plan);

  // A round's log(new / base). Once decided, it stays decided. Finite (checked,
  // std::invalid_argument).
  Decision Add(double value);

  Decision decision() const { return decision_; }
  size_t rounds() const { return rounds_; }
  // Logarithm of the likelihood ratio of the two effects together against no shift.
  double evidence() const;

 private:
  double Evidence(double shift) const;
  Decision Decide() const;

  SequentialPlan plan_;
  double accept_;  // evidence at which an effect is believed
  double reject_;  // and at which it is not
  double sum_ = 0;
  double squares_ = 0;
  size_t rounds_ = 0;
  Decision decision_ = Decision::kGoOn;
};

// Rounds that a plan of a fixed size needs for the same error rates, when the standard deviation of
// a round's value is known: ((z(1 - alpha / 2) + z(1 - beta)) sigma / effect)^2, not rounded up.
double FixedRounds(double effect, double sigma, double alpha, double beta);

}  // namespace dynbench::stats
