#include "common/stats/fdr.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace dynbench::stats {

Discoveries BenjaminiHochberg(std::span<const double> p, double rate) {
  if (!(rate > 0 && rate < 1)) throw std::invalid_argument("a false discovery rate outside (0, 1)");
  for (const double value : p) {
    if (!(value >= 0 && value <= 1)) throw std::invalid_argument("a p value outside [0, 1]");
  }
  const size_t n = p.size();
  Discoveries result{std::vector<bool>(n, false), std::vector<double>(n, 1), 0};
  if (n == 0) return result;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  const auto count = static_cast<double>(n);
  result.cut = rate / count;
  double smallest = 1;
  for (size_t rank = n; rank > 0; --rank) {
    const size_t i = order[rank - 1];
    smallest = std::min(smallest, p[i] * count / static_cast<double>(rank));
    result.adjusted[i] = smallest;
    if (smallest > rate) continue;
    result.rejected[i] = true;
    result.cut = std::max(result.cut, rate * static_cast<double>(rank) / count);
  }
  return result;
}

}  // namespace dynbench::stats
