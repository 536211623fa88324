#include "worker/agent/slot_health.h"

#include <algorithm>
#include <utility>

namespace dynbench::worker {

bool SlotHealth::Due(int64_t now_ms) const {
  return stage_ == Stage::kUnchecked || (stage_ == Stage::kFailed && now_ms >= due_ms_);
}

void SlotHealth::Begin() {
  stage_ = Stage::kChecking;
  again_ = false;
}

void SlotHealth::Passed() {
  stage_ = std::exchange(again_, false) ? Stage::kUnchecked : Stage::kHealthy;
  passed_once_ = true;
  troubles_ = 0;
  failures_ = 0;
  failed_check_.clear();
  reason_.clear();
}

void SlotHealth::Failed(const std::string& check, const std::string& reason, int64_t now_ms) {
  stage_ = Stage::kFailed;
  failed_check_ = check;
  reason_ = reason;
  const int64_t wait_ms = std::min(kLastRecheckMs, first_recheck_ms_ << std::min(failures_, 16));
  ++failures_;
  due_ms_ = std::exchange(again_, false) ? now_ms : now_ms + wait_ms;
}

void SlotHealth::Trouble() {
  if (++troubles_ >= kTroubles && stage_ == Stage::kHealthy) stage_ = Stage::kUnchecked;
}

void SlotHealth::Worked() { troubles_ = 0; }

void SlotHealth::DeviceError() {
  if (stage_ == Stage::kHealthy) stage_ = Stage::kUnchecked;
}

void SlotHealth::Recheck() {
  failures_ = 0;
  if (stage_ == Stage::kChecking) {
    again_ = true;
  } else {
    stage_ = Stage::kUnchecked;
  }
}

std::string SlotHealth::State() const {
  if (stage_ == Stage::kHealthy) return "";
  return failed() ? "quarantined" : "preflight";
}

std::string SlotHealth::Reason() const {
  if (stage_ == Stage::kHealthy) return "";
  return failed() ? "the check \"" + failed_check_ + "\" fails: " + reason_
                  : "the slot is checked as soon as nothing runs on it";
}

}  // namespace dynbench::worker
