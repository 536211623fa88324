// The experiment that the seeded stores have: inference of a TIMM model.
#pragma once

#include <string>

#include "common/plan/experiment.h"

namespace dynbench::golden {

inline plan::Experiment TimmExperiment(const std::string& model, plan::Test test, int batch_size) {
  plan::Experiment e;
  e.suite = "timm";
  e.model = model;
  e.test = test;
  e.source = {"timm", model, "", ""};
  e.batch_size = batch_size;
  return e;
}

}  // namespace dynbench::golden
