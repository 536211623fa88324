// Asking processes where they are, before they are killed. Only std and POSIX: the runner's lanes
// compile this file too.
#pragma once

#include <sys/types.h>

namespace dynbench::worker {

// Sends SIGUSR1 to every descendant of `root` that handles it (to any other it would be the end),
// and gives them a moment to write. Stopped processes cannot answer and are passed over. Python's
// faulthandler is what is expected to listen. Returns how many were asked.
int DumpStacks(pid_t root);

}  // namespace dynbench::worker
