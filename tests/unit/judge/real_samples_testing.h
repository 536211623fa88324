// The samples of real, identical processes (aa_samples.csv: heavy tails, drift, steps) to draw
// from.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/stats/random.h"
#include "common/stats/robust.h"
#include "common/stats/stats.h"

namespace dynbench::judge {

using Samples = std::vector<double>;

struct RealProcess {
  Samples eager, compiled;                       // logarithms, around the process's median
  double eager_offset = 0, compiled_offset = 0;  // of that median from its model's middle
};

inline std::vector<RealProcess> LoadRealProcesses() {
  std::ifstream file(DYNBENCH_AA_SAMPLES);
  EXPECT_TRUE(file) << DYNBENCH_AA_SAMPLES;
  std::vector<RealProcess> all;
  std::vector<std::string> models;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream text(line);
    std::string model, side;
    std::getline(text, model, ',');
    std::getline(text, side, ',');
    Samples logs;
    double microseconds = 0;
    while (text >> microseconds) logs.push_back(std::log(microseconds));
    const double median = stats::Median(logs);
    for (double& log : logs) log -= median;
    if (side == "eager") {
      all.push_back({logs, {}, median, 0});
      models.push_back(model);
    } else {
      all.back().compiled = logs;
      all.back().compiled_offset = median;
    }
  }
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    Samples eager, compiled;
    for (; end < all.size() && models[end] == models[begin]; ++end) {
      eager.push_back(all[end].eager_offset);
      compiled.push_back(all[end].compiled_offset);
    }
    for (size_t i = begin; i < end; ++i) {
      all[i].eager_offset -= stats::Median(eager);
      all[i].compiled_offset -= stats::Median(compiled);
    }
    begin = end;
  }
  return all;
}

// So many samples of one real process, drawn with replacement, around `centre_ms` times
// exp(`bias`). `noise` above 0: scaled to this robust standard deviation. Milliseconds.
inline Samples Resample(const Samples& pool, int count, double centre_ms, double bias, double noise,
                        stats::Generator& generator) {
  const double scale = noise > 0 ? noise / std::max(1e-6, stats::MedianAbsoluteDeviation(pool)) : 1;
  Samples samples;
  for (int i = 0; i < count; ++i) {
    const double log = pool[stats::UniformIndex(generator, pool.size())] * scale;
    samples.push_back(centre_ms * std::exp(bias + log));
  }
  return samples;
}

}  // namespace dynbench::judge
