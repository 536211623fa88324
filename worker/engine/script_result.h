// The one result of one run of an upstream script, from how it ended, what it wrote and what it
// printed. Pure.
#pragma once

#include <string_view>

#include "common/formats/upstream_read.h"
#include "common/plan/experiment.h"
#include "common/plan/result.h"
#include "worker/engine/outcome.h"

namespace dynbench::worker {

// A whole row counts, whatever happened after it (said in a note). Without one it is `timeout` or
// `crash`, also with exit code 0; phase and blame come from the last stack in the log, and a device
// that was lost, a full disk or a refused download make it `lost`. Upstream's own word is kept.
plan::Result ResultOfScript(const Ending& ending, const formats::UpstreamReading& reading,
                            std::string_view log, const plan::Experiment& experiment);

}  // namespace dynbench::worker
