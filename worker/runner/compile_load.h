// Who else ran on an attempt's cores while its model compiled: what the kernel counts on these
// cores less what the attempt's own processes used, however deep below it (compile workers, C++
// compilers) and whether or not they have ended. Compile seconds cannot be taken again in one
// process, so the row is flagged. Needs neither torch nor Python.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/runner/foreign_processes.h"

namespace dynbench::runner {

// Whose time on the cores is not foreign.
struct OwnTree {
  pid_t root = 0;
  bool with_root = true;
};
// `parent` of `pid` in the snapshot, so many generations up; 0: not known. Pure.
pid_t Ancestor(const std::map<pid_t, ProcessTime>& all, pid_t pid, int generations);
// Clock ticks that the tree has used since it began, those of its ended processes included: between
// two snapshots it grows by what the tree used. Pure.
int64_t TreeTicks(const std::map<pid_t, ProcessTime>& all, const OwnTree& tree);

struct CompileLook {
  double seconds = 0;
  double foreign_share = 0;  // of the time of the cores: 0 … 1
  std::string busiest = "";  // of those who may run on these cores, for people
};
// Others had more than kMostForeignShare (disturbance.h) of the cores; of a moment the kernel's
// ticks say too little. Pure.
bool Disturbed(const CompileLook& look);
std::string ToString(const CompileLook& look);

// A stretch of time, from the constructor on. Thread-compatible.
class CompileLoad {
 public:
  // `cores` empty: nothing is known.
  CompileLoad(std::vector<int> cores, const OwnTree& own);
  std::optional<CompileLook> Look() const;

 private:
  struct Reading {
    std::map<pid_t, ProcessTime> processes;
    int64_t busy_ns = 0, at_ns = 0;
  };
  Reading Read() const;

  const std::vector<int> cores_;
  const OwnTree own_;
  const Reading begin_;
};

}  // namespace dynbench::runner
