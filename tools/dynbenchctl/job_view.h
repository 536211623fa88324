// A job in words and in JSON. Pure.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// "70 done (68 passed, 2 failed), 1 running, 9 waiting": zero counts are left out, but for
// "0 done" when nothing is.
std::string CountsLine(const store::Coverage& coverage);

// "job 3 (timm, nightly) running: 70 done …, about 4 min left".
std::string StatusLine(const JobView& job);

// The one-line answer of each job, then why its experiments wait.
std::string StatusText(const std::vector<JobView>& jobs);

// "2026-11-29 20:15:03" in UTC; empty for 0.
std::string DateTime(UnixTimeMs time);

}  // namespace dynbench::cli
