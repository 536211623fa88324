// Results of the past, sorted into lines that may be looked at over time: one for each series,
// environment name and kind of device. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/judge/fingerprint.h"
#include "common/plan/experiment.h"
#include "common/store/history.h"

namespace dynbench::judge {

// What a series ran on, without the number of such devices and the host's name: the CPU's model, or
// that of the GPUs for any other device. "unknown" where the host does not say.
std::string DeviceKind(const Facts& host, const std::string& device);

struct SeriesHistory {
  std::string series;
  plan::Experiment experiment;  // of the newest row; its environment is that of all of them
  std::string device_kind;
  std::vector<const store::HistoryRow*> rows;  // oldest first, never empty
};

// By suite, model, test and so on, in the order of names. The rows belong to `history`, which must
// live longer.
std::vector<SeriesHistory> GroupHistory(const store::History& history);

}  // namespace dynbench::judge
