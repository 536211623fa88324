// How a worker stops taking work and takes it up again: an operator's drain, the end of the
// process, and everything else that closes a slot.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/time.h"
#include "spdlog/spdlog.h"
#include "worker/agent/agent.h"

namespace dynbench::worker {
namespace {

// For telling what is given back, after it is.
constexpr int64_t kLastWordsMs = 20'000;
constexpr int64_t kStopLookMs = 20;
constexpr char kStopping[] = "the worker is stopping";

}  // namespace

SlotBlock Agent::BlockOf(size_t slot) const {
  if (stopping_) return {"drained", kStopping};
  if (!drain_reason_.empty()) return {"drained", drain_reason_};
  if (!disk_reason_.empty()) return {"disk_low", disk_reason_};
  const SlotHealth& health = states_[slot].health;
  if (!health.healthy()) return {health.State(), health.Reason()};
  if (making_ && !making_->Active().empty()) {
    return {"preflight", absl::StrCat("the environment ", making_->Active(), " is made on this ",
                                      "host or sent from it, which would be in a measurement")};
  }
  for (const auto& [name, environment] : environment_health_) {
    if (!environment.failed()) return {};
  }
  if (environment_health_.empty()) return {};
  return {"quarantined", "no environment works; " + environment_health_.begin()->first + ": " +
                             environment_health_.begin()->second.Reason()};
}

void Agent::BlocksChanged() {
  bool told = true;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const SlotBlock block = BlockOf(i);
    // What was accepted before the disk was low is still run; not where an experiment found it
    // full, since the next one would as well.
    const bool full = !space_.Reason(MonotonicNow().ns / kNsPerMs).empty();
    if (block.state.empty() || (block.state == "disk_low" && !full)) {
      slots_[i]->Open();
    } else {
      slots_[i]->Close(block.state + ": " + block.reason);
    }
    // The figures of a full disk move all the time: told when the state is another one.
    if (states_[i].told_state == block.state) continue;
    told = false;
    states_[i].told_state = block.state;
    const bool expected = block.state.empty() || block.state == "preflight";
    spdlog::log(expected ? spdlog::level::info : spdlog::level::warn, "slot {} takes {}",
                slots_[i]->shape().index,
                block.state.empty() ? "work" : "no work, " + block.state + ": " + block.reason);
  }
  if (!told && session_) SendSlots();
}

void Agent::OnDrain(const v1::Drain& drain) {
  drain_reason_ = drain.reason().empty() ? "drained by an operator" : drain.reason();
  spdlog::info("drained: {}; what runs may end within {:.0f} s", drain_reason_,
               static_cast<double>(drain.deadline_ms()) / 1000);
  BlocksChanged();
  loop_->Cancel(drain_timer_);
  drain_timer_ = loop_->After(std::max<int64_t>(0, drain.deadline_ms()), [this] {
    for (const auto& slot : slots_) slot->Drain("drained: " + drain_reason_);
  });
}

void Agent::OnRelease() {
  if (stopping_) return;
  loop_->Cancel(drain_timer_);
  drain_reason_.clear();
  space_.Release();
  CheckDisk();
  spdlog::info("released");
  for (SlotState& state : states_) {
    if (state.health.failed()) state.health.Recheck();
  }
  for (auto& [name, health] : environment_health_) {
    if (health.failed()) health.Recheck();
  }
  BlocksChanged();
  LookAtHealth();
}

void Agent::Stop() {
  if (!stopping_) {
    stopping_ = true;
    loop_->Cancel(drain_timer_);
    spdlog::info("stopping: {}", options_.grace_ms > 0
                                     ? "what runs may end within the grace, the rest is given back"
                                     : "unfinished experiments are given back");
    BlocksChanged();
    if (options_.grace_ms > 0) {
      drain_timer_ = loop_->After(options_.grace_ms, [this] { GiveAllBack(); });
    } else {
      GiveAllBack();
    }
    return AwaitEnd(MonotonicNow() + (options_.grace_ms + kLastWordsMs) * kNsPerMs);
  }
  if (given_back_) {
    spdlog::warn("asked again to stop: stopping now");
    return loop_->Stop();
  }
  spdlog::warn("asked again to stop: what runs is given back now");
  loop_->Cancel(drain_timer_);
  GiveAllBack();
}

void Agent::GiveAllBack() {
  given_back_ = true;
  for (const auto& slot : slots_) slot->Drain(kStopping);
}

void Agent::AwaitEnd(MonotonicTime deadline) {
  const bool idle =
      std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) { return slot->idle(); });
  if ((idle && spool_writer_.idle() && session_->flushed()) || MonotonicNow() > deadline) {
    journal_.SetRunning({});  // a wanted stop counts against nobody
    loop_->Stop();
    return;
  }
  stop_timer_ = loop_->After(kStopLookMs, [this, deadline] { AwaitEnd(deadline); });
}

}  // namespace dynbench::worker
