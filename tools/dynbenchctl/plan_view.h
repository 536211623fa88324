// A plan as a table for people and as dynbench.plan/1. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/plan/experiment.h"
#include "tools/dynbenchctl/context.h"

namespace dynbench::cli {

struct PlanView {
  std::vector<plan::Experiment> experiments;
  std::vector<std::string> warnings;
  int partitions = 1;
  double expected_s = -1;                // predicted makespan; negative: unknown
  std::vector<std::string> placements;   // which workers can take what
};

std::string PlanText(const PlanView& plan);
Json PlanJson(const PlanView& plan);

}  // namespace dynbench::cli
