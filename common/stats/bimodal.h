// Whether values fall into two clusters: a kernel choice that differs from process to process, a
// clock with two states, a neighbour that comes and goes. Such a median jumps between the two, so
// it must be shown as two.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace dynbench::stats {

struct Clusters {
  bool bimodal = false;
  double low = 0;  // median of each cluster
  double high = 0;
  size_t low_count = 0;
  size_t high_count = 0;
  double p = 1;  // how often a uniform sample splits as well
};

// The best split of the sorted values into two clusters, judged by the sum of squares within over
// the sum of squares of all (Engelman and Hartigan, "Percentage Points of a Test for Clusters",
// Journal of the American Statistical Association 64, 1969). Its distribution is simulated from
// the uniform one, of all with one mode the hardest to tell from two (Hartigan and Hartigan, "The
// Dip Test of Unimodality", The Annals of Statistics 13, 1985), with a fixed seed, once for each
// number of values. A single wild value is no cluster: the smaller one has at least two values and
// a fifth of all. Clusters closer than `share_min` of the lower one are not worth telling.
//
// Keeps what it simulated; not thread-safe.
class BimodalityTest {
 public:
  explicit BimodalityTest(double level = 0.01, double share_min = 0.02)
      : level_(level), share_min_(share_min) {}

  // Below five values, and for values that are all equal: not bimodal. No NaN (checked,
  // std::invalid_argument).
  Clusters Test(std::span<const double> values);

 private:
  const std::vector<double>& Simulated(size_t count);

  double level_;
  double share_min_;
  std::map<size_t, std::vector<double>> simulated_;  // sorted ratios, by number of values
};

}  // namespace dynbench::stats
