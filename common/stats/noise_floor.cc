#include "common/stats/noise_floor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/stats/stats.h"
#include "common/stats/welch.h"

namespace dynbench::stats {

NoiseFloor EstimateNoiseFloor(std::span<const std::vector<double>> processes) {
  NoiseFloor floor;
  floor.processes = processes.size();
  if (processes.empty()) throw std::invalid_argument("a noise floor of no processes");
  std::vector<std::vector<double>> medians(1);
  double sampling = 0, within = 0;
  const auto n = static_cast<double>(processes.size());
  for (const auto& samples : processes) {
    const std::vector<double> logs = Logs(samples);
    medians[0].push_back(Median(logs));
    sampling += MedianVariance(samples) / n;
    const double sigma = InterquartileRange(logs) / 1.3489795003921634;
    within += sigma * sigma / n;
  }
  floor.within = std::sqrt(within);
  floor.of_medians = PooledVariance(medians);
  floor.between = std::sqrt(std::max(0.0, floor.of_medians.variance - sampling));
  return floor;
}

double SmallestChange(const Variance& of_medians, size_t base, size_t fresh, double p) {
  if (of_medians.degrees_of_freedom <= 0 || base == 0 || fresh == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const double error = std::sqrt(of_medians.variance *
                                 (1 / static_cast<double>(base) + 1 / static_cast<double>(fresh)));
  return std::expm1(TwoSidedT(p, of_medians.degrees_of_freedom) * error);
}

}  // namespace dynbench::stats
