#include "worker/agent/activity.h"

#include <algorithm>
#include <utility>

namespace dynbench::worker {
namespace {

constexpr size_t kKeptAtMost = 256;  // before they are put together early

}  // namespace

std::string_view WordOf(Activity activity) {
  switch (activity) {
    case Activity::kIdle:
      return "idle";
    case Activity::kPreflight:
      return "preflight";
    case Activity::kCleaning:
      return "cleaning";
    case Activity::kPreparing:
      return "preparing";
    case Activity::kWaitingForWindow:
      return "waiting_for_window";
    case Activity::kZygoteStart:
      return "zygote_start";
    case Activity::kCompiling:
      return "compiling";
    case Activity::kMeasuring:
      return "measuring";
  }
  return "idle";
}

void ActivityLog::Set(Activity activity, int64_t now_ms) {
  if (activity == current()) return;
  now_ms = std::max(now_ms, changes_.back().since_ms);  // a clock that was set back
  changes_.push_back({activity, now_ms});
  if (changes_.size() > kKeptAtMost) Condense();
}

void ActivityLog::Condense() {
  std::vector<std::pair<Activity, int64_t>> sums;  // in order of their first appearance
  for (size_t i = 0; i + 1 < changes_.size(); ++i) {
    const int64_t length_ms = changes_[i + 1].since_ms - changes_[i].since_ms;
    const auto known = std::find_if(sums.begin(), sums.end(), [&](const auto& sum) {
      return sum.first == changes_[i].activity;
    });
    if (known != sums.end()) {
      known->second += length_ms;
    } else {
      sums.emplace_back(changes_[i].activity, length_ms);
    }
  }
  const ActivityChange last = changes_.back();
  int64_t at_ms = changes_.front().since_ms;
  changes_.clear();
  for (const auto& [activity, length_ms] : sums) {
    changes_.push_back({activity, at_ms});
    at_ms += length_ms;
  }
  changes_.push_back(last);
}

std::vector<ActivityChange> ActivityLog::Take() {
  if (changes_.size() > kInOrder) Condense();
  std::vector<ActivityChange> told(changes_.begin() + (told_ && changes_.size() > 1 ? 1 : 0),
                                   changes_.end());
  changes_.erase(changes_.begin(), changes_.end() - 1);
  told_ = true;
  return told;
}

}  // namespace dynbench::worker
