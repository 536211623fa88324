// The process of one attempt: what makes it a process of its own, then the attempt.
#pragma once

#include "worker/process/line_channel.h"
#include "worker/process/unique_fd.h"
#include "worker/runner/attempt.h"

namespace dynbench::runner {

struct ChildFds {
  worker::UniqueFd control;
  worker::UniqueFd output;  // stdout
  worker::UniqueFd error;   // stderr
};

// Runs in the forked child; never returns. The exit status is that of RunAttempt, or 3 when the
// process could not be set up (stderr says why).
[[noreturn]] void ChildMain(const Attempt& attempt, ChildFds fds, pid_t lane);

}  // namespace dynbench::runner
