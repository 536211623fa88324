// What the coordinator is told: results, what is given back, logs, slots and beats.
#include <memory>
#include <string>
#include <utility>

#include "common/base/time.h"
#include "proto/dynbench/convert.h"
#include "proto/dynbench/keepalive.h"
#include "spdlog/spdlog.h"
#include "worker/agent/agent.h"
#include "worker/agent/messages.h"
#include "worker/host/disk_space.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kLogEveryMs = 250;
// Too short for people to notice, longer than the shortest experiments.
constexpr int64_t kHoldReportsMs = 50;

}  // namespace

void Agent::OnFinished(const v1::AttemptFinished& finished) {
  const AttemptId attempt = proto::FromProto(finished.attempt());
  watched_.erase(attempt);
  held_.Drop(attempt);
  auto file = spool_.Hold(finished);
  if (!file) return;
  spool_writer_.Write(*std::move(file), [this, finished](const absl::Status& stored) {
    spool_.Written(proto::FromProto(finished.attempt()), stored);
    if (!stored.ok()) {
      spdlog::error("a result could not be written: {}; it is kept in memory", stored.ToString());
      CheckDisk();
    }
    SendFinished(finished);
  });
}

void Agent::SendFinished(const v1::AttemptFinished& finished) {
  v1::WorkerMessage message;
  *message.mutable_finished() = finished;
  session_->Send(std::move(message));
}

void Agent::SendReturned(const AttemptId& attempt, const std::string& reason, bool infrastructure) {
  v1::AttemptReturned returned;
  *returned.mutable_attempt() = proto::ToProto(attempt);
  returned.set_reason(reason);
  returned.set_infrastructure_failure(infrastructure);
  SendReturned(returned);
}

void Agent::SendReturned(const v1::AttemptReturned& returned) {
  if (!session_->connected()) {
    const AttemptId attempt = proto::FromProto(returned.attempt());
    held_.Drop(attempt);
    untold_[attempt] = returned;
    return;
  }
  TellHeld();
  v1::WorkerMessage message;
  *message.mutable_returned() = returned;
  session_->Send(std::move(message));
}

void Agent::TellSoon() {
  if (held_timer_ == 0) held_timer_ = loop_->After(kHoldReportsMs, [this] { TellHeld(); });
}

void Agent::TellHeld() {
  loop_->Cancel(std::exchange(held_timer_, 0));
  if (!session_->connected()) return;  // Welcome comes back to it
  for (v1::WorkerMessage& message : held_.Take()) session_->Send(std::move(message));
}

void Agent::OnWatchLog(const v1::WatchLog& watch) {
  const AttemptId attempt = proto::FromProto(watch.attempt());
  if (!watch.watch()) {
    watched_.erase(attempt);
    return;
  }
  watched_[attempt] = 0;
  SendLogs();
}

void Agent::SendLogs() {
  loop_->Cancel(log_timer_);
  for (auto it = watched_.begin(); it != watched_.end();) {
    auto& [attempt, offset] = *it;
    Slot* slot = SlotOf(attempt);
    const auto log = slot == nullptr ? nullptr : slot->LogOf(attempt);
    if (log == nullptr) {  // its whole log goes with the result
      it = watched_.erase(it);
      continue;
    }
    const LiveLog::Piece piece = log->Read(offset, proto::kChunkBytes);
    if (!piece.bytes.empty()) {
      v1::WorkerMessage message;
      *message.mutable_log()->mutable_attempt() = proto::ToProto(attempt);
      message.mutable_log()->set_offset_bytes(piece.offset);
      message.mutable_log()->set_data(piece.bytes);
      offset = piece.offset + static_cast<int64_t>(piece.bytes.size());
      session_->Send(std::move(message));
    }
    ++it;
  }
  if (!watched_.empty()) log_timer_ = loop_->After(kLogEveryMs, [this] { SendLogs(); });
}

void Agent::SendSlots() {
  v1::WorkerMessage message;
  message.mutable_slots();
  for (size_t i = 0; i < slots_.size(); ++i) {
    *message.mutable_slots()->add_slots() = ToProto(slots_[i]->shape(), BlockOf(i));
  }
  session_->Send(std::move(message));
}

void Agent::Beat() {
  loop_->Cancel(beat_timer_);
  v1::WorkerMessage message;
  v1::WorkerBeat& beat = *message.mutable_beat();
  for (const AttemptId& attempt : Running()) *beat.add_running() = proto::ToProto(attempt);
  beat.set_spooled_results(spool_.size());
  beat.set_state_free_bytes(FreeBytes(options_.state_dir));
  beat.set_sent_unix_ms(UnixNow().ms);
  session_->Send(std::move(message));
  beat_timer_ = loop_->After(beat_interval_ms_, [this] { Beat(); });
}

}  // namespace dynbench::worker
