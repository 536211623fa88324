#include "coordinator/session/log_relay.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace dynbench::session {

void LogRelay::Follow(ExperimentId experiment, std::shared_ptr<LogFollower> follower) {
  followers_[experiment].push_back({std::move(follower), LeaseEpoch(), 0});
}

bool LogRelay::Unfollow(ExperimentId experiment, const std::shared_ptr<LogFollower>& follower) {
  const auto found = followers_.find(experiment);
  if (found == followers_.end()) return false;
  std::erase_if(found->second, [&](const Position& p) { return p.follower == follower; });
  if (!found->second.empty()) return false;
  followers_.erase(found);
  return true;
}

std::vector<ExperimentId> LogRelay::FollowedExperiments() const {
  std::vector<ExperimentId> all;
  for (const auto& [experiment, positions] : followers_) all.push_back(experiment);
  return all;
}

void LogRelay::Deliver(const AttemptId& attempt, int64_t offset_bytes, const std::string& bytes) {
  const auto found = followers_.find(attempt.experiment);
  if (found == followers_.end()) return;
  for (Position& p : found->second) {
    if (p.lease != attempt.lease) {
      if (p.lease) p.follower->Bytes("\n[dynbench: a new attempt begins]\n");
      p.lease = attempt.lease;
      p.next_byte = 0;
    }
    const int64_t end = offset_bytes + static_cast<int64_t>(bytes.size());
    if (end <= p.next_byte) continue;
    if (offset_bytes > p.next_byte) {
      p.follower->Bytes(
          absl::StrCat("\n[dynbench: ", offset_bytes - p.next_byte, " bytes are missing here]\n"));
      p.next_byte = offset_bytes;
    }
    p.follower->Bytes(bytes.substr(static_cast<size_t>(p.next_byte - offset_bytes)));
    p.next_byte = end;
  }
}

void LogRelay::End(ExperimentId experiment) {
  const auto found = followers_.find(experiment);
  if (found == followers_.end()) return;
  const std::vector<Position> positions = std::move(found->second);
  followers_.erase(found);
  for (const Position& p : positions) p.follower->End();
}

void LogRelay::EndAll() {
  for (const ExperimentId& experiment : FollowedExperiments()) End(experiment);
}

}  // namespace dynbench::session
