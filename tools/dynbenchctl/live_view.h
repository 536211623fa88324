// The live picture of a job on a terminal: counts, failures first, then what runs, then what ended
// last. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

struct LivePicture {
  JobView job;
  std::map<ExperimentId, RowView> rows;  // as last heard
  std::vector<ExperimentId> ended;       // in the order in which they ended
};

// At most `height` lines, each at most `width` wide, without line ends. Failures never push the
// counts off the screen: what does not fit is counted.
std::vector<std::string> LiveLines(const LivePicture& picture, int width, int height);

}  // namespace dynbench::cli
