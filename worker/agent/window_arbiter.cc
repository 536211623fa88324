#include "worker/agent/window_arbiter.h"

#include <algorithm>

namespace dynbench::worker {

bool WindowArbiter::Request(const AttemptId& attempt) {
  if (!holder_) holder_ = attempt;
  if (holder_ == attempt) return true;
  if (std::find(waiting_.begin(), waiting_.end(), attempt) == waiting_.end()) {
    waiting_.push_back(attempt);
  }
  return false;
}

std::optional<AttemptId> WindowArbiter::Release(const AttemptId& attempt) {
  std::erase(waiting_, attempt);
  if (holder_ != attempt) return std::nullopt;
  holder_.reset();
  if (!waiting_.empty()) {
    holder_ = waiting_.front();
    waiting_.pop_front();
  }
  return holder_;
}

void WindowArbiter::Pass(const AttemptId& holder, const AttemptId& next) {
  if (holder_ != holder) return;
  std::erase(waiting_, next);
  holder_ = next;
}

}  // namespace dynbench::worker
