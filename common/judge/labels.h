// What tells an experiment of a run from its siblings: a model may have several modes,
// configurations, precisions, … in it. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/judge/pairing.h"

namespace dynbench::judge {

// Words that do not vary over the run are in no label.
class Labels {
 public:
  explicit Labels(const Pairing& pairing);

  // Its configuration, and mode, precision, device, start and profile where the run has several:
  // "default training".
  std::string OfConfiguration(const plan::Experiment& experiment) const;
  // Its model, and configuration and these where the run has several: "resnet18 cudagraphs".
  std::string OfModel(const plan::Experiment& experiment) const;

 private:
  std::string Varying(const plan::Experiment& experiment) const;

  std::set<std::string> configurations_;
  std::map<size_t, std::set<std::string>> seen_;  // by the word's place
};

}  // namespace dynbench::judge
