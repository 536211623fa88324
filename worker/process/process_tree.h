// Whole process trees: found through /proc, signalled, killed, stopped. Only std and POSIX: the
// runner's lanes compile this file too.
//
// The root of a tree is a subreaper (PR_SET_CHILD_SUBREAPER), so that a descendant that was forked
// twice or opened a session of its own still has the root as ancestor and is found.
//
// A pid alone names nobody for long: a process is the pair of its pid and its start time, and a
// signal is sent through a pidfd only after the start time has been compared.
//
// Thread-safe: no state.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dynbench::worker {

struct ProcessStat {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';          // as in /proc/PID/stat: R, S, D, T (stopped), Z (zombie), …
  uint64_t start_ticks = 0;  // since boot, in clock ticks
};

// Nothing when there is no such process.
std::optional<ProcessStat> ReadProcessStat(pid_t pid);

// Every process that /proc shows, zombies included.
std::vector<ProcessStat> ListProcesses();

// The living descendants of `root` (no zombies), parents before children; not `root` itself.
std::vector<ProcessStat> Descendants(pid_t root);
// The same among `processes`, as ListProcesses gave them.
std::vector<ProcessStat> Descendants(pid_t root, const std::vector<ProcessStat>& processes);

// True when the process was still the same one and the signal was sent.
bool SignalProcess(const ProcessStat& process, int signal);

// Signals every descendant once; returns how many were signalled.
int SignalDescendants(pid_t root, int signal);

// Its command line, else its name in brackets, as ps shows it; at most 200 bytes. Empty: no such
// process.
std::string CommandOf(pid_t pid);

// One that KILL did not reach: it waits in the kernel, uninterruptibly.
struct StuckProcess {
  ProcessStat process;
  std::string command;
};

struct KillTreeOptions {
  pid_t root = 0;               // never signalled itself
  int64_t grace_ms = 0;         // between TERM and KILL; 0: KILL at once
  int64_t give_up_ms = 10'000;  // after the first KILL
  // Likewise, when everybody who is left waits uninterruptibly in the kernel (a file system that
  // does not answer, a driver): KILL reaches them when that wait ends, and no sooner.
  int64_t uninterruptible_ms = 3'000;
  // Called between walks, so that a caller who is the tree's reaper can wait for zombies.
  std::function<void()> reap = nullptr;
  // Descendants for which this is true (and their descendants) are left alone.
  std::function<bool(const ProcessStat&)> spare = nullptr;
  // Sends a signal in the place of SignalProcess: for tests, and for who gives a grace without
  // TERM.
  std::function<bool(const ProcessStat&, int)> signal = nullptr;
};

struct KillTreeReport {
  int signalled = 0;                   // distinct processes that got TERM or KILL
  bool gone = true;                    // nothing living is left
  std::vector<ProcessStat> left = {};  // who is, when not
};

// TERM (and CONT, for stopped ones), grace, then KILL again and again until two walks in a row find
// nobody. Blocks for at most grace_ms + give_up_ms.
KillTreeReport KillTree(const KillTreeOptions& options);

// Stops every descendant of `root`: SIGSTOP walks until two in a row find every thread of everybody
// stopped and the same processes; a parent in vfork whose child is stopped counts as stopped, for
// it cannot run before its child does. False when that was not reached in `limit_ms`; what was
// stopped stays so.
bool StopTree(pid_t root, int64_t limit_ms = 2'000);

// Undoes StopTree: CONT walks until nobody is stopped. False when that was not reached.
bool ContinueTree(pid_t root, int64_t limit_ms = 2'000);

}  // namespace dynbench::worker
