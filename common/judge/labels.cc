#include "common/judge/labels.h"

namespace dynbench::judge {
namespace {

std::vector<std::string> Words(const plan::Experiment& e) {
  return {std::string(plan::ToString(e.mode)), std::string(plan::ToString(e.precision)), e.device,
          std::string(plan::ToString(e.start)), e.profile};
}

}  // namespace

Labels::Labels(const Pairing& pairing) {
  for (const Pair& pair : pairing.pairs) {
    configurations_.insert(pair.experiment.configuration);
    const auto words = Words(pair.experiment);
    for (size_t i = 0; i < words.size(); ++i) seen_[i].insert(words[i]);
  }
}

std::string Labels::OfConfiguration(const plan::Experiment& experiment) const {
  return experiment.configuration + Varying(experiment);
}

std::string Labels::OfModel(const plan::Experiment& experiment) const {
  const bool several = configurations_.size() > 1;
  return experiment.model + (several ? " " + experiment.configuration : "") + Varying(experiment);
}

std::string Labels::Varying(const plan::Experiment& experiment) const {
  std::string text;
  const auto words = Words(experiment);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto seen = seen_.find(i);
    if (seen != seen_.end() && seen->second.size() > 1) text += " " + words[i];
  }
  return text;
}

}  // namespace dynbench::judge
