#include "common/stats/sequential.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace dynbench::stats {

SequentialTest::SequentialTest(const SequentialPlan& plan) : plan_(plan) {
  const auto rate = [](double r) { return r > 0 && r < 0.5; };
  if (!(plan.effect > 0) || !rate(plan.alpha) || !rate(plan.beta)) {
    throw std::invalid_argument("a sequential test needs an effect and error rates in (0, 0.5)");
  }
  if (!(plan.noise.variance > 0) || !(plan.noise.degrees_of_freedom > 0)) {
    throw std::invalid_argument("a sequential test needs to know the noise");
  }
  if (plan.rounds_min == 0 || plan.rounds_min > plan.rounds_max) {
    throw std::invalid_argument("a sequential test needs 0 < rounds_min <= rounds_max");
  }
  accept_ = std::log((1 - plan.beta) / plan.alpha);
  reject_ = std::log(plan.beta / (1 - plan.alpha));
}

double SequentialTest::Evidence(double shift) const {
  const auto n = static_cast<double>(rounds_);
  // sum (x - shift)^2 from the sums that are kept.
  const double around_shift = squares_ - 2 * shift * sum_ + n * shift * shift;
  const VariancePrior& noise = plan_.noise;
  if (std::isinf(noise.degrees_of_freedom)) {
    return (squares_ - around_shift) / (2 * noise.variance);
  }
  const double prior = noise.degrees_of_freedom * noise.variance;
  return (noise.degrees_of_freedom + n) / 2 * std::log((prior + squares_) / (prior + around_shift));
}

double SequentialTest::evidence() const {
  const double higher = Evidence(plan_.effect), lower = Evidence(-plan_.effect);
  // log((e^higher + e^lower) / 2) without overflow.
  return std::max(higher, lower) + std::log1p(std::exp(-std::abs(higher - lower))) -
         std::numbers::ln2;
}

Decision SequentialTest::Decide() const {
  if (rounds_ < plan_.rounds_min) return Decision::kGoOn;
  const double both = evidence();
  if (both >= accept_) return sum_ > 0 ? Decision::kHigher : Decision::kLower;
  if (both <= reject_) return Decision::kNoChange;
  return rounds_ >= plan_.rounds_max ? Decision::kUndecided : Decision::kGoOn;
}

Decision SequentialTest::Add(double value) {
  if (!std::isfinite(value)) throw std::invalid_argument("a round's value must be finite");
  if (decision_ != Decision::kGoOn) return decision_;
  ++rounds_;
  sum_ += value;
  squares_ += value * value;
  decision_ = Decide();
  return decision_;
}

double FixedRounds(double effect, double sigma, double alpha, double beta) {
  const boost::math::normal normal;
  const double z = boost::math::quantile(boost::math::complement(normal, alpha / 2)) +
                   boost::math::quantile(boost::math::complement(normal, beta));
  return std::pow(z * sigma / effect, 2);
}

}  // namespace dynbench::stats
