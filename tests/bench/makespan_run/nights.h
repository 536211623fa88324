// Nights of a made-up suite, from a seed: which models there are and how long each takes. Durations
// vary by a tenth from night to night, and new models appear.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/plan/experiment.h"

namespace dynbench::bench {

// "uniform": models of 40 to 80 s. "giant": the same and one of 1,200 s. "heavy_tail": a Pareto
// distribution of shape 1.2 from 10 s on, cut at 900 s.
const std::vector<std::string>& Shapes();

struct Measured {
  plan::Experiment experiment;
  double seconds = 0;
};

class Suite {
 public:
  Suite(std::string shape, int models, uint64_t seed);

  // The next night: performance and accuracy (half as long) of every model, in the order of names.
  // From the second on three of a hundred models are new, at least one.
  std::vector<Measured> Night();

 private:
  struct Model {
    std::string name;
    double seconds = 0;
  };
  double Draw();
  void Add(double seconds);

  const std::string shape_;
  std::mt19937_64 random_;
  std::vector<Model> models_;
  int nights_ = 0;
};

}  // namespace dynbench::bench
