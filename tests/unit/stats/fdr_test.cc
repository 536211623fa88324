// Method: the example of Benjamini and Hochberg's paper, and the rate over seeded nights with and
// without real changes.
#include "common/stats/fdr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "common/stats/random.h"

namespace dynbench::stats {
namespace {

TEST(BenjaminiHochbergTest, ExampleOfThePaper) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const Discoveries found = BenjaminiHochberg(p, 0.05);
  EXPECT_EQ(std::count(found.rejected.begin(), found.rejected.end(), true), 4);
  EXPECT_TRUE(found.rejected[3]);
  EXPECT_NEAR(found.cut, 0.05 * 4 / 15, 1e-12);
  EXPECT_NEAR(found.adjusted[0], 0.0015, 1e-12);
  EXPECT_NEAR(found.adjusted[14], 1, 1e-12);
}

TEST(BenjaminiHochbergTest, OrderDoesNotMatterAndNothingIsNothing) {
  const Discoveries found = BenjaminiHochberg(std::vector<double>{0.9, 0.001, 0.5}, 0.05);
  EXPECT_EQ(found.rejected, (std::vector<bool>{false, true, false}));
  EXPECT_TRUE(BenjaminiHochberg({}, 0.05).rejected.empty());
}

TEST(BenjaminiHochbergTest, HoldsItsRate) {
  Generator generator(1995);
  double false_share = 0;
  int quiet_alarms = 0;
  constexpr int kNights = 500;
  for (int night = 0; night < kNights; ++night) {
    std::vector<double> p, quiet;
    for (int i = 0; i < 90; ++i) p.push_back(Uniform(generator));
    for (int i = 0; i < 10; ++i) p.push_back(Uniform(generator) * 1e-4);  // real changes
    for (int i = 0; i < 100; ++i) quiet.push_back(Uniform(generator));
    const auto found = BenjaminiHochberg(p, 0.1).rejected;
    const double wrong = static_cast<double>(std::count(found.begin(), found.begin() + 90, true));
    const double all = static_cast<double>(std::count(found.begin(), found.end(), true));
    if (all > 0) false_share += wrong / all / kNights;
    const auto none = BenjaminiHochberg(quiet, 0.1).rejected;
    quiet_alarms += std::count(none.begin(), none.end(), true) > 0 ? 1 : 0;
  }
  EXPECT_LT(false_share, 0.12);
  EXPECT_GT(false_share, 0.05) << "it would be blunt";
  EXPECT_NEAR(quiet_alarms, 50, 25) << "of 500 quiet nights at 10 %";
}

TEST(BenjaminiHochbergTest, BrokenPreconditionsAreRefused) {
  EXPECT_THROW(BenjaminiHochberg(std::vector<double>{2}, 0.1), std::invalid_argument);
  EXPECT_THROW(BenjaminiHochberg(std::vector<double>{0.5}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace dynbench::stats
