// Who else was at work on this host during a window: processor time of all processes but this one,
// before and after. For people, beside the share of the measuring cores (core_load.h). One that
// began and ended in between is not seen. Needs neither torch nor Python.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

namespace dynbench::runner {

struct ProcessTime {
  std::string name;
  int64_t ticks = 0;  // user and system, of all its threads

  bool operator==(const ProcessTime&) const = default;
};

// Of every process that `proc` ("/proc", or a test's folder) shows, but `self`.
std::map<pid_t, ProcessTime> ProcessTimes(const std::string& proc, pid_t self);

// "cc1plus (pid 123), python3 (pid 7)": those that worked most between the two, three at most;
// empty when nobody did. Pure.
std::string Busiest(const std::map<pid_t, ProcessTime>& before,
                    const std::map<pid_t, ProcessTime>& after);

}  // namespace dynbench::runner
