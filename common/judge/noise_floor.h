// The noise floor: how much the processes of one build differ, learned from A/A runs (`calibrate`,
// or jobs that are named for it), by series, host and metric. Spread within and between processes
// are kept apart. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/judge/fingerprint.h"
#include "common/judge/metrics.h"
#include "common/stats/hierarchy.h"

namespace dynbench::judge {

struct NoiseFloor {
  std::string series;       // plan::SeriesKey
  std::string worker_host;  // the machine that it holds for
  Metric metric = Metric::kSpeedup;
  // Of the logarithm of a process's figure, around the mean of its build on that host.
  stats::Variance between;
  double within = 0;  // variance of that logarithm from the process's own samples; 0: no samples
  int processes = 0;
};

// Of processes that measured; those of one build on one host are a group, and a floor needs a group
// of two. kStatus has none. Ordered by series, host and metric.
std::vector<NoiseFloor> FloorsOf(const std::vector<Process>& processes);

// Several statements of one series, host and metric as one: sums of squares and degrees of freedom
// add up. Nothing known: no degrees of freedom.
stats::Variance Pool(const std::vector<stats::Variance>& variances);

// Variance of the logarithm of a process's figure, from the spread that every row has
// (interquartile range / median; stats::MedianVariance), of the middle process: one that was
// disturbed widens its own spread, not everybody's. 0 for a metric without samples.
double SamplingVariance(Metric metric, const std::vector<const Process*>& processes);

// Logarithms of the figures that are there; of those that were disturbed only when asked.
std::vector<double> LogsOf(Metric metric, const std::vector<const Process*>& processes,
                           bool disturbed_too = false);

}  // namespace dynbench::judge
