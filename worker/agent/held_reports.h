// News of attempts that can wait for a moment: that one started, and in which phase it is. Of an
// attempt that ends meanwhile its result says all of that, so short experiments cost one message
// instead of three; of several phases the last one is told.
//
// Thread-compatible.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/plan/words.h"
#include "dynbench/v1/session.pb.h"

namespace dynbench::worker {

class HeldReports {
 public:
  void Started(const v1::AttemptStarted& started);
  void Phase(const AttemptId& attempt, plan::Phase phase);
  // It ended.
  void Drop(const AttemptId& attempt) { held_.erase(attempt); }

  bool empty() const { return held_.empty(); }
  // What is to be sent now, each start before its phase. Nothing is held then.
  std::vector<v1::WorkerMessage> Take();

 private:
  struct News {
    std::optional<v1::AttemptStarted> started;
    std::optional<plan::Phase> phase;
  };
  std::map<AttemptId, News> held_;
};

}  // namespace dynbench::worker
