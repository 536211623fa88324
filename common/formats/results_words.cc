#include "common/formats/results_words.h"

#include <algorithm>

#include "common/plan/words.h"

namespace dynbench::formats {

const std::vector<std::string>& ResultsWords::Titles() {
  static const auto* const titles =
      new std::vector<std::string>{"suite",       "mode",    "precision", "configuration", "device",
                                   "environment", "profile", "start",     "round",         "side"};
  return *titles;
}

size_t ResultsWords::Of(const plan::Experiment& e) {
  const bool same = !words_.empty() && last_.mode == e.mode && last_.precision == e.precision &&
                    last_.start == e.start && last_.round == e.round && last_.suite == e.suite &&
                    last_.configuration == e.configuration && last_.device == e.device &&
                    last_.environment == e.environment && last_.profile == e.profile &&
                    last_.side == e.side;
  if (same) return last_number_;
  std::vector<std::string> words = {e.suite,
                                    std::string(plan::ToString(e.mode)),
                                    std::string(plan::ToString(e.precision)),
                                    e.configuration,
                                    e.device,
                                    e.environment,
                                    e.profile,
                                    std::string(plan::ToString(e.start)),
                                    e.round > 0 ? std::to_string(e.round) : "",
                                    e.side};
  const auto [entry, is_new] = numbers_.try_emplace(std::move(words), words_.size());
  if (is_new) words_.push_back(&entry->first);
  last_ = {e.mode,          e.precision, e.start,       e.round,   e.suite,
           e.configuration, e.device,    e.environment, e.profile, e.side};
  last_number_ = entry->second;
  return last_number_;
}

std::vector<bool> ResultsWords::Varies() const {
  std::vector<bool> varies(Titles().size(), false);
  for (size_t d = 0; d < varies.size(); ++d) {
    varies[d] = std::any_of(words_.begin(), words_.end(),
                            [&](const auto* words) { return (*words)[d] != (*words_[0])[d]; });
  }
  return varies;
}

}  // namespace dynbench::formats
