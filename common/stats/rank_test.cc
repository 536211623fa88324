#include "common/stats/rank_test.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace dynbench::stats {
namespace {

constexpr size_t kExactPairs = 400;

// P(U <= u) for n and m values without ties. Adding the largest value of all either to the new side
// (it beats all n of base) or to base gives count(n, m, u) = count(n, m-1, u-n) + count(n-1, m, u).
double ExactBelow(size_t n, size_t m, size_t u) {
  // counts[i] holds, for the current number of new values, the counts of i base values.
  std::vector<std::vector<double>> counts(n + 1);
  for (auto& of_base : counts) of_base = {1};  // no new value: U is 0
  for (size_t j = 1; j <= m; ++j) {
    for (size_t i = 0; i <= n; ++i) {
      std::vector<double> next(i * j + 1, 0);
      for (size_t k = 0; k < counts[i].size(); ++k) next[k + i] += counts[i][k];
      if (i > 0) {
        for (size_t k = 0; k < counts[i - 1].size(); ++k) next[k] += counts[i - 1][k];
      }
      counts[i] = std::move(next);
    }
  }
  double below = 0, all = 0;
  for (size_t k = 0; k < counts[n].size(); ++k) {
    all += counts[n][k];
    if (k <= u) below += counts[n][k];
  }
  return below / all;
}

// Sum of t^3 - t over groups of t equal values.
double TieTerm(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  double term = 0;
  for (size_t i = 0; i < all.size();) {
    size_t j = i;
    while (j < all.size() && all[j] == all[i]) ++j;
    const auto t = static_cast<double>(j - i);
    term += t * t * t - t;
    i = j;
  }
  return term;
}

}  // namespace

RankTest MannWhitney(std::span<const double> base, std::span<const double> fresh) {
  if (base.empty() || fresh.empty()) throw std::invalid_argument("a rank test of an empty side");
  std::vector<double> all(base.begin(), base.end());
  all.insert(all.end(), fresh.begin(), fresh.end());
  if (std::any_of(all.begin(), all.end(), [](double x) { return std::isnan(x); })) {
    throw std::invalid_argument("a rank test of values with NaN");
  }
  RankTest test;
  for (const double b : base) {
    for (const double f : fresh) test.u += f > b ? 1 : f == b ? 0.5 : 0;
  }
  const size_t n = base.size(), m = fresh.size();
  const auto pairs = static_cast<double>(n * m), total = static_cast<double>(n + m);
  test.superiority = test.u / pairs;
  const double ties = TieTerm(std::move(all));
  const double smaller = std::min(test.u, pairs - test.u);
  if (ties == 0 && n * m <= kExactPairs) {
    test.exact = true;
    test.p = std::min(1.0, 2 * ExactBelow(n, m, static_cast<size_t>(smaller)));
    return test;
  }
  const double variance = pairs / 12 * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return test;  // every value is equal
  const double z = (pairs / 2 - smaller - 0.5) / std::sqrt(variance);
  if (z <= 0) return test;
  test.p = 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z));
  return test;
}

}  // namespace dynbench::stats
