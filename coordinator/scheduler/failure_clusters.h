// Equal infrastructure failures, told apart by where they happen: on one slot they stop that slot,
// on several workers they are the fault of something common (a mirror, a network, a file) and stop
// nobody, but are reported. So a bad host costs `limit` failures and not a night, and a bad mirror
// does not empty the fleet. Private to the scheduler. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace dynbench::scheduler {

class FailureClusters {
 public:
  // `limit` equal failures in a row stop a slot; failures older than `window_ns` are forgotten.
  FailureClusters(int limit, int64_t window_ns) : limit_(limit), window_ns_(window_ns) {}

  struct Verdict {
    bool stop_slot = false;
    bool report = false;  // several workers; at most once a signature and window
    int failures = 0;     // of the slot in a row, or of all workers together
    int workers = 1;
  };
  Verdict Failed(const SlotId& slot, const std::string& signature, MonotonicTime now);
  // The slot brought a result: it can work.
  void Succeeded(const SlotId& slot) { streaks_.erase(slot); }

 private:
  struct Streak {
    std::string signature;
    int length = 0;
    MonotonicTime last;
  };
  struct Seen {
    int failures = 0;
    MonotonicTime last;
  };
  struct Cluster {
    std::map<WorkerId, Seen> workers;
    std::optional<MonotonicTime> reported_at;
  };
  Cluster& Recent(const std::string& signature, MonotonicTime now);

  const int limit_;
  const int64_t window_ns_;
  std::map<SlotId, Streak> streaks_;
  std::map<std::string, Cluster> clusters_;
};

}  // namespace dynbench::scheduler
