// Who follows the log of which experiment, while it runs. Bytes are asked of the worker only while
// somebody follows (WatchLog); each WatchLog(true) makes the worker send from the first byte again,
// and each follower leaves out what it has had, so a second follower misses nothing.
//
// A follower of an experiment that waits hears from it once it starts. Thread-compatible: the
// dispatcher's thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace dynbench::session {

// Called on the dispatcher's thread; never blocks.
class LogFollower {
 public:
  virtual ~LogFollower() = default;
  virtual void Bytes(const std::string& bytes) = 0;
  virtual void End() = 0;  // last call
};

class LogRelay {
 public:
  void Follow(ExperimentId experiment, std::shared_ptr<LogFollower> follower);
  // True: nobody follows any more; the worker may stop sending.
  bool Unfollow(ExperimentId experiment, const std::shared_ptr<LogFollower>& follower);
  bool Followed(ExperimentId experiment) const { return followers_.count(experiment) > 0; }
  std::vector<ExperimentId> FollowedExperiments() const;

  void Deliver(const AttemptId& attempt, int64_t offset_bytes, const std::string& bytes);
  // The experiment has its result: all its followers end.
  void End(ExperimentId experiment);
  void EndAll();

 private:
  struct Position {
    std::shared_ptr<LogFollower> follower;
    LeaseEpoch lease;  // attempt that `next_byte` belongs to
    int64_t next_byte = 0;
  };
  std::map<ExperimentId, std::vector<Position>> followers_;
};

}  // namespace dynbench::session
