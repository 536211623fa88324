// Method: noise of known size between and within seeded processes must be found, apart; and the
// smallest change of a floor must be the one that the t distribution gives.
#include "common/stats/noise_floor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "common/stats/random.h"
#include "common/stats/welch.h"

namespace dynbench::stats {
namespace {

std::vector<std::vector<double>> Processes(double between, double within, int count,
                                           Generator& generator) {
  std::vector<std::vector<double>> processes(count);
  for (auto& samples : processes) {
    const double bias = between * Normal(generator);
    for (int i = 0; i < 30; ++i) samples.push_back(8 * std::exp(bias + within * Normal(generator)));
  }
  return processes;
}

TEST(NoiseFloorTest, BetweenAndWithinAreKeptApart) {
  Generator generator(1992);
  const NoiseFloor biased = EstimateNoiseFloor(Processes(0.03, 0.01, 200, generator));
  EXPECT_NEAR(biased.between, 0.03, 0.005);
  EXPECT_NEAR(biased.within, 0.01, 0.002);
  EXPECT_EQ(biased.processes, 200U);
  const NoiseFloor scattered = EstimateNoiseFloor(Processes(0, 0.2, 200, generator));
  EXPECT_NEAR(scattered.within, 0.2, 0.02);
  EXPECT_LT(scattered.between, 0.03) << "more samples would cure this noise";
}

TEST(NoiseFloorTest, SmallestChange) {
  const Variance variance{1e-4, 9};
  EXPECT_NEAR(SmallestChange(variance, 1, 1, 0.01),
              std::expm1(TwoSidedT(0.01, 9) * std::sqrt(2e-4)), 1e-12);
  EXPECT_LT(SmallestChange(variance, 5, 5, 0.01), SmallestChange(variance, 1, 1, 0.01));
  EXPECT_TRUE(std::isinf(SmallestChange({0, 0}, 3, 3, 0.01)));
}

TEST(NoiseFloorTest, OneProcessSaysNothingOfProcesses) {
  Generator generator(1);
  const NoiseFloor floor = EstimateNoiseFloor(Processes(0.1, 0.01, 1, generator));
  EXPECT_EQ(floor.of_medians.degrees_of_freedom, 0);
  EXPECT_THROW(EstimateNoiseFloor({}), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats
