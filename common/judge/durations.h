// Where a night's time went, by model, and which models made it longer than another night: "+38 min
// of slot time, from these 3 models". It describes what was spent and judges nothing.
//
// Time of an experiment is wall time of its attempts: what each phase took, what it stood still for
// the windows of others (`frozen`), what none of these explains (`other`: processes, folders), and
// earlier attempts that did not count (`retries`). With several lanes the attempts of one slot
// overlap, so a night grows by less than the sum. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/plan/experiment.h"
#include "common/store/queries.h"

namespace dynbench::judge {

// By word of the phase ("compile"), "frozen", "other" or "retries"; seconds. Parts of 0 are absent.
using TimeParts = std::map<std::string, double>;

struct TimedRow {
  plan::Experiment experiment;
  double total_s = 0;
  TimeParts parts;  // they add up to total_s
};

// `attempts`: all of the experiment's; none are needed when the row has no more than one. Time 0:
// it never ran.
TimedRow TimeOf(const store::ResultRow& row, const std::vector<store::AttemptRow>& attempts);

// The rows of one job that took time.
using Night = std::vector<TimedRow>;

struct ExperimentTime {
  std::string name;  // plan::DisplayName, without the round
  double base_s = 0, fresh_s = 0;
};

// A model, over its series that both nights have.
struct ModelTime {
  std::string model;  // "timm/resnet18"
  double base_s = 0, fresh_s = 0;
  TimeParts change;                         // new minus base, by part
  std::vector<ExperimentTime> experiments;  // what changed most first
  double change_s() const { return fresh_s - base_s; }
};

struct Durations {
  double base_s = 0, fresh_s = 0;    // of all that ran
  double common_s = 0;               // new minus base, of the series that both have
  double grown_s = 0, shrunk_s = 0;  // of it, from models that took longer, and less (negative)
  std::vector<ModelTime> models;     // that both have; by change, in the night's direction first
  // The first so many of `models` explain 80 % of what all that went in their direction did.
  size_t explaining = 0;
  std::vector<ExperimentTime> added, removed;  // series of one night alone, longest first
  double added_s = 0, removed_s = 0;
};

// Several base nights: of each series the night with the (lower) median time stands for all.
Durations CompareNights(const std::vector<Night>& base, const Night& fresh);

}  // namespace dynbench::judge
