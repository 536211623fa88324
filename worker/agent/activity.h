// What a slot does, second by second, as it is told to the coordinator (session.proto,
// SlotActivity). Pure: times are arguments. Thread-compatible.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace dynbench::worker {

// Of several lanes the last in this order speaks for the slot.
enum class Activity {
  kIdle,
  kPreflight,
  kCleaning,
  kPreparing,
  kWaitingForWindow,
  kZygoteStart,
  kCompiling,  // any phase outside of a window
  kMeasuring,
};
std::string_view WordOf(Activity activity);

struct ActivityChange {
  Activity activity = Activity::kIdle;
  int64_t since_ms = 0;
};

// Changes that are still to be told. Programs that end within milliseconds change a slot's activity
// thousands of times a second; then only sums are kept: equal activities are put together, so that
// every millisecond still counts for what it was, only their order within the span is lost.
class ActivityLog {
 public:
  // More changes than this between two tellings are put together.
  static constexpr size_t kInOrder = 8;

  explicit ActivityLog(int64_t now_ms) : changes_{{Activity::kIdle, now_ms}} {}

  void Set(Activity activity, int64_t now_ms);
  Activity current() const { return changes_.back().activity; }
  // True: there is something to tell.
  bool changed() const { return changes_.size() > 1 || !told_; }
  // What to tell, oldest first. Always ends with the current activity.
  std::vector<ActivityChange> Take();
  // Everything to be told again from the current activity on (a new session).
  void Again() { told_ = false; }

 private:
  void Condense();

  std::vector<ActivityChange> changes_;  // the first is what was told last, unless !told_
  bool told_ = false;
};

}  // namespace dynbench::worker
