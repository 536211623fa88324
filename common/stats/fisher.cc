#include "common/stats/fisher.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dynbench::stats {
namespace {

double LogChoose(int64_t n, int64_t k) {
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  return std::lgamma(real(n) + 1) - std::lgamma(real(k) + 1) - std::lgamma(real(n - k) + 1);
}

void Check(const Share& share) {
  if (share.hits < 0 || share.of < share.hits) {
    throw std::invalid_argument("FisherGreater: a share has more hits than trials");
  }
}

}  // namespace

double FisherGreater(Share one, Share other) {
  Check(one);
  Check(other);
  if (one.of == 0 || other.of == 0) return 1;
  // Of all hits, how many fall on the first: hypergeometric.
  const int64_t hits = one.hits + other.hits;
  const double all = LogChoose(one.of + other.of, hits);
  double probability = 0;
  for (int64_t k = one.hits; k <= std::min(one.of, hits); ++k) {
    if (hits - k > other.of) continue;
    probability += std::exp(LogChoose(one.of, k) + LogChoose(other.of, hits - k) - all);
  }
  return std::min(1.0, probability);
}

}  // namespace dynbench::stats
