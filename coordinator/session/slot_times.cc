#include "coordinator/session/slot_times.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dynbench::session {
namespace {

constexpr char kIdle[] = "idle";

const std::set<std::string>& KnownActivities() {
  static const auto* const known =
      new std::set<std::string>{"measuring",          "compiling", "preparing", "zygote_start",
                                "waiting_for_window", "cleaning",  "preflight", kIdle};
  return *known;
}

}  // namespace

std::string SlotTimes::ReasonOf(const Account& account) {
  if (!account.connected) return "disconnected";
  if (account.activity != kIdle) return account.activity;
  for (const char* state : {"drained", "quarantined", "preflight"}) {
    if (account.state == state) return state;
  }
  return account.state.empty() ? "no_work" : "disk_low";
}

// Ends the open span at `at` when the reason has become another one.
void SlotTimes::Switch(const SlotId& slot, Account* account, UnixTimeMs at) {
  const std::string reason = ReasonOf(*account);
  if (reason == account->reason) return;
  at = std::max(at, account->since);
  // One without length is only written to take back what was recorded of it.
  if (account->recorded || at > account->since) {
    closed_.push_back({slot, account->since, at, account->reason});
  }
  account->recorded = false;
  account->reason = reason;
  account->since = at;
}

void SlotTimes::Load(const std::vector<store::SlotSpan>& last) {
  for (const store::SlotSpan& span : last) {
    Account& account = accounts_[span.slot];
    account.reason = "disconnected";
    account.since = span.until;
  }
}

void SlotTimes::Joined(const WorkerId& worker, const std::map<int, std::string>& states,
                       UnixTimeMs now) {
  for (auto it = accounts_.lower_bound({worker, 0});
       it != accounts_.end() && it->first.worker == worker;) {
    if (states.count(it->first.index) > 0) {
      ++it;
      continue;
    }
    closed_.push_back({it->first, it->second.since, now, it->second.reason});
    it = accounts_.erase(it);
  }
  for (const auto& [index, state] : states) {
    const auto [it, is_new] = accounts_.try_emplace({worker, index});
    Account& account = it->second;
    if (is_new) account.since = now;
    account.connected = true;
    account.activity = kIdle;
    account.state = state;
    account.joined = now;
    account.untold = !is_new;
    if (is_new) account.reason = ReasonOf(account);
  }
}

void SlotTimes::Held(const WorkerId& worker, const std::map<int, std::string>& states,
                     UnixTimeMs now) {
  for (const auto& [index, state] : states) {
    const auto it = accounts_.find({worker, index});
    if (it == accounts_.end()) continue;
    it->second.state = state;
    if (!it->second.untold) Switch(it->first, &it->second, now);
  }
}

void SlotTimes::Does(const SlotId& slot, const std::string& activity, UnixTimeMs since,
                     UnixTimeMs now) {
  const auto it = accounts_.find(slot);
  if (it == accounts_.end() || KnownActivities().count(activity) == 0) return;
  it->second.untold = false;
  it->second.connected = true;
  it->second.activity = activity;
  Switch(slot, &it->second, std::min(since, now));
}

void SlotTimes::Left(const WorkerId& worker, UnixTimeMs seen) {
  for (auto it = accounts_.lower_bound({worker, 0});
       it != accounts_.end() && it->first.worker == worker; ++it) {
    it->second.connected = false;
    it->second.untold = false;
    Switch(it->first, &it->second, seen);
  }
}

std::string SlotTimes::ActivityOf(const SlotId& slot) const {
  const auto it = accounts_.find(slot);
  return it == accounts_.end() || !it->second.connected ? "" : it->second.activity;
}

std::vector<store::SlotSpan> SlotTimes::Take(UnixTimeMs now, bool open) {
  for (auto& [slot, account] : accounts_) {
    if (!account.untold || now.ms - account.joined.ms < kTellMs) continue;
    account.untold = false;
    Switch(slot, &account, account.joined);
  }
  std::vector<store::SlotSpan> spans = std::exchange(closed_, {});
  if (!open) return spans;
  for (auto& [slot, account] : accounts_) {
    if (now.ms <= account.since.ms) continue;
    spans.push_back({slot, account.since, now, account.reason});
    account.recorded = true;
  }
  return spans;
}

}  // namespace dynbench::session
