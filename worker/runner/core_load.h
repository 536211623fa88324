// Who used the measuring cores: the kernel's account of them less what this process used itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dynbench::runner {

// Nanoseconds that `cores` were busy since boot (stolen time included: a neighbour of a virtual
// machine disturbs as well), from the text of /proc/stat; its clock ticks are 10 ms. Pure.
int64_t BusyNs(const std::string& proc_stat, const std::vector<int>& cores);

// The cores that it names but these, ascending. Pure.
std::vector<int> OtherCores(const std::string& proc_stat, const std::vector<int>& cores);

// A stretch of time on these cores, from the constructor on. Thread-compatible.
class CoreLoad {
 public:
  // `cores` empty: nothing is known, and nobody foreign is ever seen.
  explicit CoreLoad(std::vector<int> cores);

  // Time that others ran on these cores / time of the cores, since the constructor: 0 … 1. Threads
  // of this process count as its own wherever they run; processes below it count as others.
  double ForeignShare() const;

  // Time that the host's other cores were busy / their time, since the constructor; nothing when
  // there are no others.
  std::optional<double> OtherCoresShare() const;

 private:
  const std::vector<int> cores_;
  const int64_t begin_ns_;
  const std::string begin_stat_;
  const int64_t busy_ns_, own_ns_;
};

}  // namespace dynbench::runner
