#include "worker/agent/space_hold.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynbench::worker {

void SpaceHold::Failed(const std::string& what, int64_t now_ms) {
  if (now_ms < until_ms_) return;
  until_ms_ = now_ms + std::min(kLastMs, kFirstMs << std::min(failures_++, 16));
  what_ = what;
}

void SpaceHold::Worked(int64_t now_ms) {
  if (now_ms >= until_ms_) failures_ = 0;
}

std::string SpaceHold::Reason(int64_t now_ms) const {
  if (now_ms >= until_ms_) return "";
  return absl::StrCat("an experiment ran out of space: ", what_,
                      "; free some, or wait until it is tried again");
}

}  // namespace dynbench::worker
