// Accounts for every second of every slot: what workers say that their slots do, what holds them
// and when they are away becomes spans that follow one another without gap or overlap
// (common/store/slot_time.h, docs/glossary.md "slot time").
//
// What a worker tells late counts from when it was: a worker that measured while it could not be
// heard was measuring, not disconnected. Pure: times are arguments, on the coordinator's clock.
// Thread-compatible.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/slot_time.h"

namespace dynbench::session {

class SlotTimes {
 public:
  // How long a slot that has joined may take to say what it did meanwhile.
  static constexpr int64_t kTellMs = 5'000;

  // Where the store's accounts end; until they are heard again the slots are disconnected.
  void Load(const std::vector<store::SlotSpan>& last);

  // The worker is there and has these slots. `states` by slot: the protocol's word for why it
  // takes nothing, or empty. Slots that it had before and has no more are accounted for no longer.
  void Joined(const WorkerId& worker, const std::map<int, std::string>& states, UnixTimeMs now);
  void Held(const WorkerId& worker, const std::map<int, std::string>& states, UnixTimeMs now);
  // The slot does `activity` (session.proto, SlotActivity) since then.
  void Does(const SlotId& slot, const std::string& activity, UnixTimeMs since, UnixTimeMs now);
  // Not heard since `seen`.
  void Left(const WorkerId& worker, UnixTimeMs seen);

  // What a slot does now; empty: not known or away.
  std::string ActivityOf(const SlotId& slot) const;

  // The spans that ended since the last call and, with `open`, those that go on, up to `now`. In
  // the order in which they are to be recorded.
  std::vector<store::SlotSpan> Take(UnixTimeMs now, bool open);

 private:
  struct Account {
    std::string reason;  // of the open span
    UnixTimeMs since;
    std::string activity = "idle";
    std::string state;
    bool connected = false;
    bool untold = false;  // has joined and not said yet what it did
    UnixTimeMs joined;
    bool recorded = false;  // the open span is in the store, so that it must be closed there
  };
  static std::string ReasonOf(const Account& account);
  void Switch(const SlotId& slot, Account* account, UnixTimeMs at);

  std::map<SlotId, Account> accounts_;
  std::vector<store::SlotSpan> closed_;
};

}  // namespace dynbench::session
