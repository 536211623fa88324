// Who of a slot's attempts has the device alone. First come, first served. Pure.
#pragma once

#include <deque>
#include <optional>

#include "common/base/ids.h"

namespace dynbench::worker {

// Thread-compatible.
class WindowArbiter {
 public:
  // True: the window is this attempt's now. False: it waits for Next. Asking twice changes nothing.
  bool Request(const AttemptId& attempt);

  // The attempt gives the window back, or ends without having had it. The next holder, if the
  // window passed on by this.
  std::optional<AttemptId> Release(const AttemptId& attempt);

  // The holder hands the window to `next`, before all who wait. Nobody else gets it until `next`
  // releases it, whether or not it has asked yet. Nothing happens when `holder` is not the holder.
  void Pass(const AttemptId& holder, const AttemptId& next);

  const std::optional<AttemptId>& holder() const { return holder_; }

 private:
  std::optional<AttemptId> holder_;
  std::deque<AttemptId> waiting_;
};

}  // namespace dynbench::worker
