// The words of an experiment that a job may vary (suite, mode, precision, …): those that it does
// vary become columns of its table, the others are said once, on top.
//
// Thread-compatible.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/plan/experiment.h"

namespace dynbench::formats {

class ResultsWords {
 public:
  // "suite", "mode", …, as many as each set of words has.
  static const std::vector<std::string>& Titles();

  // The number of the experiment's words; equal words have equal numbers. Remembers them.
  size_t Of(const plan::Experiment& experiment);
  const std::vector<std::string>& words(size_t number) const { return *words_[number]; }

  // Which of them differ between the experiments that were asked for.
  std::vector<bool> Varies() const;

 private:
  // What makes neighbours equal without making words of them.
  struct Last {
    plan::Mode mode = {};
    plan::Precision precision = {};
    plan::Start start = {};
    int round = 0;
    std::string suite, configuration, device, environment, profile, side;
  };

  std::map<std::vector<std::string>, size_t> numbers_;
  std::vector<const std::vector<std::string>*> words_;  // keys of numbers_
  Last last_;
  size_t last_number_ = 0;  // of last_, once there are words
};

}  // namespace dynbench::formats
