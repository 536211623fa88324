#include "tests/simulation/network.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace dynbench::simulation {
namespace {

template <typename Message>
const char* NameOf(const Message& message) {
  const auto* oneof = Message::descriptor()->oneof_decl(0);
  for (int i = 0; i < oneof->field_count(); ++i) {
    if (oneof->field(i)->number() == static_cast<int>(message.message_case())) {
      return oneof->field(i)->name().c_str();
    }
  }
  return "";
}

std::string DetailOf(const v1::WorkerMessage& message) { return message.environment().state(); }
std::string DetailOf(const v1::CoordinatorMessage& message) {
  return message.environment().action();
}

int64_t Ms(double ms) { return static_cast<int64_t>(ms * static_cast<double>(kNsPerMs)); }

}  // namespace

MonotonicTime Connection::Arrival(Side to) {
  End_& end = ends_of(to);
  const MonotonicTime blocked =
      to == Side::kCoordinator ? cable_->up_blocked_until : cable_->down_blocked_until;
  const MonotonicTime sent = std::max(world_->now(), blocked);
  end.last = std::max(end.last, sent + Ms(world_->random.In(cable_->delay_ms)));
  return end.last;
}

void Connection::Tap(Moment moment, Side from, const char* message, const std::string& detail) {
  if (world_->tap) world_->tap({moment, from, message, worker_, detail});
}

template <typename Message>
void Connection::Send(Side from, Message message) {
  if (ends_of(from).over) return;
  const char* name = NameOf(message);
  const std::string detail = DetailOf(message);
  Tap(Moment::kBeforeSend, from, name, detail);
  if (ends_of(from).over) return;  // killed there
  const Side to = Other(from);
  const uint64_t number = ends_of(to).next++;
  world_->timeline.At(Arrival(to), [self = shared_from_this(), this, from, to, number, name, detail,
                                    message = std::move(message)] {
    End_& end = ends_of(to);
    if (end.over || number >= end.limit) return;
    Tap(Moment::kBeforeReceive, from, name, detail);
    if (end.over) return;
    if constexpr (std::is_same_v<Message, v1::WorkerMessage>) {
      ends_.to_coordinator(message);
    } else {
      ends_.to_worker(message);
    }
    Tap(Moment::kAfterReceive, from, name, detail);
  });
  Tap(Moment::kAfterSend, from, name, detail);
}

void Connection::SendUp(v1::WorkerMessage message) { Send(Side::kWorker, std::move(message)); }
void Connection::SendDown(v1::CoordinatorMessage message) {
  Send(Side::kCoordinator, std::move(message));
}

void Connection::LoseSome(Side to) {
  End_& end = ends_of(to);
  // Few of those that were sent are still under way; counting from the last one is enough.
  const uint64_t lost = world_->random.Bits() % 4;
  end.limit = std::min(end.limit, end.next > lost ? end.next - lost : 0);
}

void Connection::TellEnd(Side side, MonotonicTime when) {
  if (std::exchange(ends_of(side).told, true)) return;
  world_->timeline.At(when, [self = shared_from_this(), this, side] {
    End_& end = ends_of(side);
    const bool heard = end.over;
    end.over = true;
    const auto& tell = side == Side::kWorker ? ends_.worker_ended : ends_.coordinator_ended;
    if (tell) tell();
    // What it had sent reaches nobody now, unless the other side ended first.
    if (!heard) LoseSome(Other(side));
  });
}

void Connection::End(Side side, bool flush) {
  End_& own = ends_of(side);
  if (own.over) return;
  own.over = true;
  const Side other = Other(side);
  if (!flush) LoseSome(other);
  if (!silent_) TellEnd(other, Arrival(other));
  TellEnd(side, world_->now() + Ms(world_->random.In({0.05, 1})));
}

void Connection::Die(Side side, bool silent) {
  End_& own = ends_of(side);
  if (own.over && own.told) return;
  own.over = true;
  own.told = true;  // nobody is there to be told
  const Side other = Other(side);
  LoseSome(other);
  silent_ = silent_ || silent;
  if (!silent_) TellEnd(other, Arrival(other));
}

void Connection::Cut(bool silent) {
  for (const Side side : {Side::kWorker, Side::kCoordinator}) LoseSome(side);
  silent_ = true;  // nothing passes any more, not even the end
  if (silent) {
    for (const Side side : {Side::kWorker, Side::kCoordinator}) {
      ends_of(side).limit = std::min(ends_of(side).limit, ends_of(side).next);
    }
    return;
  }
  for (const Side side : {Side::kWorker, Side::kCoordinator}) {
    if (!ends_of(side).over) TellEnd(side, Arrival(side));
  }
}

}  // namespace dynbench::simulation
