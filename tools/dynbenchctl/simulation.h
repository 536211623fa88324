// `plan --simulate`: what the coordinator's simulation of a plan or of a past job says.
#pragma once

#include <string>
#include <vector>

#include "dynbench/v1/control.pb.h"
#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/exit_code.h"
#include "tools/dynbenchctl/submissions.h"
#include "tools/dynbenchctl/submit_flags.h"
#include "tools/dynbenchctl/table.h"

namespace dynbench::cli {

// Each request by itself. Unavailable without a coordinator: the slots are its to know.
VerbResult SimulateAll(Context& context, const SubmitFlags& flags,
                       const std::vector<BuiltRequest>& all);
VerbResult SimulateJob(Context& context, const SubmitFlags& flags);

// For people, and {"schema": "dynbench.simulation/1", …}.
std::string SimulationText(const v1::SimulateReply& reply);
Json SimulationJson(const v1::SimulateReply& reply);

}  // namespace dynbench::cli
