// Several pinned copies of one experiment at once (`instances`), as CPU inference is served.
//
// Each copy is a process of its own on cores of its own, with the child's work folder below. The
// child itself only relays: one phase when the first copy begins it, one window when all that live
// have asked for it (the start barrier), one result.
#pragma once

#include "worker/process/line_channel.h"
#include "worker/runner/attempt.h"

namespace dynbench::runner {

// Whether this attempt is one of several copies: a performance test that is no preparation.
bool HasInstances(const Attempt& attempt);

// Runs them and sends the joined result. Returns, like RunAttempt, the exit status of this process;
// in the process of a copy it returns that copy's.
int RunInstances(const Attempt& attempt, worker::LineChannel& control);

}  // namespace dynbench::runner
