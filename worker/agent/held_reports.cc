#include "worker/agent/held_reports.h"

#include <string>
#include <utility>

#include "proto/dynbench/convert.h"

namespace dynbench::worker {

void HeldReports::Started(const v1::AttemptStarted& started) {
  held_[proto::FromProto(started.attempt())].started = started;
}

void HeldReports::Phase(const AttemptId& attempt, plan::Phase phase) {
  held_[attempt].phase = phase;
}

std::vector<v1::WorkerMessage> HeldReports::Take() {
  std::vector<v1::WorkerMessage> messages;
  for (auto& [attempt, news] : std::exchange(held_, {})) {
    if (news.started) *messages.emplace_back().mutable_started() = *std::move(news.started);
    if (!news.phase) continue;
    v1::PhaseChanged& phase = *messages.emplace_back().mutable_phase();
    *phase.mutable_attempt() = proto::ToProto(attempt);
    phase.set_phase(std::string(plan::ToString(*news.phase)));
  }
  return messages;
}

}  // namespace dynbench::worker
