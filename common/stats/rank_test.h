// The Mann-Whitney (Wilcoxon rank-sum) test: whether values of one side tend to be larger.
#pragma once

#include <span>

namespace dynbench::stats {

struct RankTest {
  double u = 0;              // pairs in which the new value is larger; ties count half
  double p = 1;              // two-sided
  double superiority = 0.5;  // u / (n m): P(new > base) + P(equal) / 2
  bool exact = false;
};

// Exact without ties while n m <= 400, by counting the arrangements (Mann and Whitney, "On a Test
// of Whether one of Two Random Variables is Stochastically Larger than the Other", The Annals of
// Mathematical Statistics 18, 1947, their recurrence); else the normal approximation with the
// correction for ties and for continuity (Lehmann, "Nonparametrics", 1975, 1.4).
//
// The smallest p that k values a side can give is 2 / C(2k, k): 0.1 for 3, 0.008 for 5. So among
// many models few processes cannot pass it, and verdicts rest on hierarchy.h.
// Preconditions (checked, std::invalid_argument): neither side is empty, no NaN. Pure.
RankTest MannWhitney(std::span<const double> base, std::span<const double> fresh);

}  // namespace dynbench::stats
