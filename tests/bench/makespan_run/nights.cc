#include "tests/bench/makespan_run/nights.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dynbench::bench {
namespace {

constexpr double kVariation = 0.1;  // standard deviation, of a night's duration over its mean

}  // namespace

const std::vector<std::string>& Shapes() {
  static const auto* const shapes = new std::vector<std::string>{"uniform", "giant", "heavy_tail"};
  return *shapes;
}

Suite::Suite(std::string shape, int models, uint64_t seed)
    : shape_(std::move(shape)), random_(seed) {
  for (int i = 0; i < models; ++i) Add(Draw());
  if (shape_ == "giant") models_[models_.size() / 2].seconds = 1200;
}

double Suite::Draw() {
  std::uniform_real_distribution<double> uniform(0, 1);
  if (shape_ != "heavy_tail") return 40 + 40 * uniform(random_);
  return std::min(900.0, 10 * std::pow(1 - uniform(random_), -1 / 1.2));
}

void Suite::Add(double seconds) {
  // Names that sort at random, as those of real models do against their durations.
  models_.push_back({std::to_string(random_()), seconds});
}

std::vector<Measured> Suite::Night() {
  if (nights_++ > 0) {
    const size_t fresh = std::max<size_t>(1, models_.size() * 3 / 100);
    for (size_t i = 0; i < fresh; ++i) Add(Draw());
  }
  std::sort(models_.begin(), models_.end(),
            [](const Model& a, const Model& b) { return a.name < b.name; });
  std::normal_distribution<double> noise(1, kVariation);
  std::vector<Measured> night;
  for (const Model& model : models_) {
    for (const auto test : {plan::Test::kPerformance, plan::Test::kAccuracy}) {
      Measured& measured = night.emplace_back();
      measured.experiment.suite = shape_;
      measured.experiment.model = model.name;
      measured.experiment.test = test;
      const double share = test == plan::Test::kAccuracy ? 0.5 : 1;
      measured.seconds = model.seconds * share * std::clamp(noise(random_), 0.6, 1.4);
    }
  }
  return night;
}

}  // namespace dynbench::bench
