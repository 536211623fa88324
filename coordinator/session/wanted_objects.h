// Which objects of one environment the coordinator still has to be sent, because a worker lacks
// them, and which holder was asked for them. Only in memory: who lacks something says it again to a
// coordinator that was restarted.
//
// Thread-compatible: plain data of the keeper.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace dynbench::session {

class WantedObjects {
 public:
  static constexpr size_t kOfAsk = 5'000;  // digests; keeps a message below 400 KiB

  struct Ask {
    int64_t number = 0;
    std::vector<std::string> sha256;  // none: all of the environment that are missing
  };

  // What is asked for already is not asked for twice.
  void Want(const std::string& sha256);
  // Every object of the environment: for a worker that cannot say what it lacks.
  void WantAll();
  // Nobody needs any of it now; what was asked for comes all the same.
  void ClearUnasked();
  // Nothing is wanted, or all of it was sent.
  bool empty() const { return unasked_.empty() && !all_unasked_ && asks_.empty(); }
  // Everything was sent once.
  bool complete() const { return complete_; }
  void SetComplete() { complete_ = true; }

  // All that nobody was asked for, for `holder` to send. Numbers are drawn from `last_number`.
  std::vector<Ask> AskFor(const WorkerId& holder, int64_t* last_number);
  // False: it was not asked that.
  bool Sent(const WorkerId& holder, int64_t number);
  // As Sent; the objects are wanted of another one, and nothing is of this one.
  bool Unable(const WorkerId& holder, int64_t number, const std::string& why);
  // It is another session now, or none: what it was asked for is wanted of whoever has it.
  void Gone(const WorkerId& holder);
  // Those that were unable may be asked again: this one, all of them.
  void Forgive(const WorkerId& holder) { unable_.erase(holder); }
  void ForgiveAll() { unable_.clear(); }

  // Who is asked for something; empty: nobody.
  WorkerId asked() const { return asks_.empty() ? WorkerId() : asks_.begin()->second.holder; }
  // Who was unable, and why.
  const std::map<WorkerId, std::string>& unable() const { return unable_; }

 private:
  struct Asked {
    WorkerId holder;
    std::set<std::string> sha256;  // none: all
  };
  bool IsAsked(const std::string& sha256) const;
  void TakeBack(const Asked& asked);

  std::set<std::string> unasked_;
  bool all_unasked_ = false;
  bool complete_ = false;
  std::map<int64_t, Asked> asks_;  // by number
  std::map<WorkerId, std::string> unable_;
};

}  // namespace dynbench::session
