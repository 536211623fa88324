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

  const std::optional<AttemptId>& holder() const { return holder_; }

 private:
  std::optional<AttemptId> holder_;
  std::deque<AttemptId> waiting_;
};

}  // namespace dynbench::worker
