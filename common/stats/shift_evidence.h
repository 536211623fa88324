// Whether repeated differences are centred at 0 or somewhere else, of any size: evidence that may
// be looked at after every further one.
#pragma once

#include <span>

#include "common/stats/hierarchy.h"

namespace dynbench::stats {

// Logarithm of the Bayes factor of "shifted" against "not shifted" for values x ~ N(shift, s²):
// under the first the shift is N(0, width s²), so that it is measured in units of the noise, and s²
// has the prior `noise` (scaled inverse chi-squared; degrees of freedom 0: nothing is known) in
// both. With d0 and s0² of the prior, n values, sum S and sum of squares Q:
//   -log(1 + n width) / 2 - (d0 + n) / 2 log((d0 s0² + Q - S² / (n + 1 / width)) / (d0 s0² + Q))
// (Jeffreys, "Theory of Probability", 1961, 5.2; Gönen, Johnson, Lu and Westfall, "The Bayesian
// Two-Sample t Test", The American Statistician 59, 2005). Without a shift it exceeds log(1 /
// alpha) at any time with probability at most alpha (Ville's inequality), on average over the
// prior, and for any s² when nothing is known of it (Hendriksen, de Heide and Grünwald, "Optional
// Stopping with Bayes Factors", Bayesian Analysis 16, 2021). Against sequential.h it needs no
// effect to look for, so large changes are seen at once.
//
// Preconditions (checked, std::invalid_argument): finite values, width > 0, a prior that is not
// negative. No values, or only zeros with an empty prior: 0. Pure.
double ShiftEvidence(std::span<const double> values, const VariancePrior& noise, double width = 10);

}  // namespace dynbench::stats
