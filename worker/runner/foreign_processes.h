// Who else was at work on this host during a window or a compilation: processor time of all
// processes, before and after. One that began and ended in between is seen only in what its parent
// waited for. Needs neither torch nor Python.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace dynbench::runner {

struct ProcessTime {
  std::string name;
  int64_t ticks = 0;  // user and system, of all its threads
  pid_t parent = 0;
  int64_t waited_ticks = 0;  // of children that ended and that it waited for, with theirs

  bool operator==(const ProcessTime&) const = default;
};

// Of every process that `proc` ("/proc", or a test's folder) shows, but `self` (0: all).
std::map<pid_t, ProcessTime> ProcessTimes(const std::string& proc, pid_t self);

// "cc1plus (pid 123), python3 (pid 7)": those that worked most between the two, three at most;
// empty when nobody did. Pure.
std::string Busiest(const std::map<pid_t, ProcessTime>& before,
                    const std::map<pid_t, ProcessTime>& after);

// The descendants of `root`, without itself. Pure.
std::set<pid_t> Below(const std::map<pid_t, ProcessTime>& all, pid_t root);

}  // namespace dynbench::runner
