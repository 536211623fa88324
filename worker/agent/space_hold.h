// How long a worker takes nothing after an experiment found a disk of the host full. What filled it
// is mostly gone with the experiment, and the disk need not be that of the state folder, so that
// the free bytes there do not say it. Pure: times are arguments, monotonic milliseconds.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <string>

namespace dynbench::worker {

class SpaceHold {
 public:
  static constexpr int64_t kFirstMs = 30'000;
  static constexpr int64_t kLastMs = 600'000;

  // Of several lanes that found it full together the first one counts. The hold doubles with each
  // one that comes before an experiment has worked.
  void Failed(const std::string& what, int64_t now_ms);
  // A result that is none of infrastructure's.
  void Worked(int64_t now_ms);
  void Release() { *this = SpaceHold(); }  // by an operator

  // Why nothing is taken; empty: it is.
  std::string Reason(int64_t now_ms) const;

 private:
  int failures_ = 0;  // in a row
  int64_t until_ms_ = 0;
  std::string what_;
};

}  // namespace dynbench::worker
